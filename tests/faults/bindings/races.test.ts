// Requests that meet, over two replicas that share nothing but PostgreSQL: the limit of live bindings holds, a repeat gets
// what there is, and whatever a DELETE or a deprovisioning meets ends as live and working, or as gone.
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bindTogether, newId, openScene, type Scene } from '../../integration/bindings/scene.ts';
import { operationEnded, PATIENT_TEST_MS } from '../../integration/instances/waits.ts';
import type { TestBroker } from '../../support/broker.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeWith } from '../../support/needs.ts';
import type { BindingBody, Ids, OsbAnswer, Platform } from '../../support/platform.ts';

/** 200 rounds of some 100 ms each, on a machine that may be busy with as much again. */
const ROUNDS = 200;
const ROUNDS_LIMIT_MS = 240_000;

/** About what a bind takes, so that the two meet at each of its steps. */
const LONGEST_DELAY_MS = 60;

interface GrantRow {
  readonly ended_at: Date | null;
  readonly sealed_token: string | null;
}

describeWith({ postgres: true, cluster: true }, 'requests that meet over two replicas', () => {
  let scene: Scene;
  let platforms: readonly [Platform, Platform];
  let proxy: ClusterProxy;

  beforeAll(async () => {
    scene = await openScene();
    const replica: TestBroker = await scene.openReplica();
    platforms = [scene.platform, replica.platform];
    proxy = await openClusterProxy(scene.cluster);
  });

  afterAll(async () => {
    await proxy.stop();
    await scene.close();
  });

  const grantsOf = ({ instance, binding }: Ids) =>
    scene.ledger.sql<GrantRow>(
      `select g.ended_at, g.sealed_token from grants g join instances i on i.key = g.instance_key
      where i.id = $1 and ($2::text is null or g.binding_id = $2)`,
      [instance, binding ?? null],
    );

  const worksWith = async ({ body }: OsbAnswer<BindingBody>) =>
    (await scene.eyes.statusWith(body.credentials.token)) === 200;

  const countOf = (answers: readonly OsbAnswer<unknown>[], status: number) =>
    answers.filter((answer) => answer.status === status).length;

  it('KEB defect 1: 50 binds at a limit of 10: ten are 201, the others 400', async () => {
    const instance = await scene.attach();
    const all = Array.from({ length: 50 }, (_, at) => ({ instance, binding: `b-${at}` }));
    const answers = await bindTogether(platforms, all);
    expect(countOf(answers, 201)).toBe(10);
    expect(countOf(answers, 400)).toBe(40);
    const grants = await grantsOf({ instance });
    expect(grants).toHaveLength(10);
    for (const answer of answers.filter(({ status }) => status === 201)) {
      expect(await worksWith(answer)).toBe(true);
    }
  });

  it('KEB defect 2: 20 binds of one id: one grant, one credential, one 201 and else 200', async () => {
    const ids = { instance: await scene.attach(), binding: 'same' };
    const answers = await bindTogether(
      platforms,
      Array.from({ length: 20 }, () => ids),
    );
    expect(countOf(answers, 201)).toBe(1);
    expect(countOf(answers, 200)).toBe(19);
    expect(new Set(answers.map(({ body }) => body.credentials.token)).size).toBe(1);
    expect(await grantsOf(ids)).toHaveLength(1);
    const [first] = answers;
    expect(first !== undefined && (await worksWith(first))).toBe(true);
  });

  it(
    'KEB defect 5: a bind against a DELETE of its id: in the end it lives and works, or nothing of it is left',
    async () => {
      const seed = randomInt(2 ** 31);
      const draw = seeded(seed);
      const ids = { instance: await scene.attach(), binding: newId('both') };
      for (let round = 0; round < ROUNDS; round += 1) {
        const isTurned = draw() < 0.5;
        const [bound, unbound] = await Promise.all([
          bindAfter(draw() * LONGEST_DELAY_MS, isTurned ? 1 : 0, ids),
          unbindAfter(draw() * LONGEST_DELAY_MS, isTurned ? 0 : 1, ids),
        ]);
        const faults = faultsOf(await seenAfter(ids, { bound, unbound }));
        const where = whereIs(seed, round);
        expect({ where, faults }).toEqual({ where, faults: [] });
      }
    },
    ROUNDS_LIMIT_MS,
  );

  type At = 0 | 1;

  async function bindAfter(delayMs: number, at: At, ids: Ids) {
    await pause(delayMs);
    return await platforms[at].bind(ids);
  }

  async function unbindAfter(delayMs: number, at: At, ids: Ids) {
    await pause(delayMs);
    return await platforms[at].unbind(ids);
  }

  interface Answers {
    readonly bound: OsbAnswer<BindingBody>;
    readonly unbound: OsbAnswer;
  }

  /** All requests are answered, so what is there is there to stay. */
  async function seenAfter(ids: Required<Ids>, { bound, unbound }: Answers): Promise<Seen> {
    const fetched = await scene.platform.getBinding(ids);
    const objects = await scene.objects(ids.binding);
    const open = (await grantsOf(ids)).filter(({ ended_at }) => ended_at === null);
    const isBound = bound.status < 300;
    return {
      put: bound.status,
      del: unbound.status,
      get: fetched.status,
      objects: objects.length,
      openGrants: open.length,
      works: isBound && (await worksWith(bound)),
      isTheSame:
        isBound &&
        fetched.status === 200 &&
        bound.body.credentials.token === fetched.body.credentials.token,
    };
  }

  it(
    'KEB defect 9: binds against the end of their instance: nothing of them is left',
    async () => {
      const seed = randomInt(2 ** 31);
      const draw = seeded(seed);
      for (let round = 0; round < 6; round += 1) {
        const instance = await scene.attach();
        const delayMs = draw() * LONGEST_DELAY_MS;
        const [answers, ended] = await Promise.all([
          bindTogether(
            platforms,
            ['a', 'b', 'c', 'd', 'a', 'b'].map((binding) => ({ instance, binding })),
          ),
          deprovisionAfter(delayMs, round % 2 === 0 ? 0 : 1, { instance }),
        ]);
        expect(ended.status).toBe(202);
        expect(await operationEnded(scene.platform, { instance })).toBe('succeeded');
        const where = whereIs(seed, round);
        expect({ where, ...(await leftOf(instance, answers)) }).toEqual({
          where,
          // 404 to who comes when the instance has gone.
          strangeStatuses: [],
          openGrants: 0,
          objects: 0,
          workingTokens: 0,
        });
      }
    },
    PATIENT_TEST_MS,
  );

  async function deprovisionAfter(delayMs: number, at: At, ids: Ids) {
    await pause(delayMs);
    return await platforms[at].deprovision(ids);
  }

  async function leftOf(instance: string, answers: readonly OsbAnswer<BindingBody>[]) {
    const objects = (await scene.objects()).filter(
      ({ metadata }) => metadata.annotations?.['runtime-broker/instance-id'] === instance,
    );
    const open = (await grantsOf({ instance })).filter(({ ended_at }) => ended_at === null);
    const bound = answers.filter(({ status }) => status < 300);
    const working = await Promise.all(bound.map((answer) => worksWith(answer)));
    return {
      strangeStatuses: answers
        .map(({ status }) => status)
        .filter((status) => ![200, 201, 404, 422].includes(status)),
      openGrants: open.length,
      objects: objects.length,
      workingTokens: working.filter(Boolean).length,
    };
  }

  it('200 binds of one instance whose lock is held are all answered, and other instances are served meanwhile', async () => {
    const [crowded, other] = [await scene.attach(), await scene.attach()];
    const lock = await lockHeld(scene.databaseUrl, crowded);
    const crowd = Array.from({ length: 200 }, (_, at) =>
      scene.platform.bind({ instance: crowded, binding: `b-${at}` }),
    );
    const heldUntil = performance.now() + LOCK_HELD_MS;
    while (performance.now() < heldUntil) {
      const ids = { instance: other, binding: newId('meanwhile') };
      expect((await scene.platform.bind(ids)).status).toBe(201);
      expect((await scene.platform.getBinding(ids)).status).toBe(200);
      expect((await scene.platform.unbind(ids)).status).toBe(200);
    }
    await lock.release();
    const answers = await Promise.all(crowd);
    expect(countOf(answers, 201)).toBe(10);
    expect(countOf(answers, 400)).toBe(190);
  });
});

/** What a bind and a DELETE of one id were answered, and what is there after them. */
interface Seen {
  readonly put: number;
  readonly del: number;
  readonly get: number;
  readonly objects: number;
  readonly openGrants: number;
  /** Whether the credential that the bind gave is accepted by the cluster. */
  readonly works: boolean;
  /** Whether it is the one that is handed out now. */
  readonly isTheSame: boolean;
}

/** In words; none is as it should be. */
function faultsOf(seen: Seen): readonly string[] {
  const { put, del, get } = seen;
  const isKnown =
    [200, 201, 422].includes(put) && [200, 410, 422].includes(del) && [200, 404].includes(get);
  const faults = {
    'a status that is in no table': !isKnown,
    ...(get === 200 ? faultsOfLive(seen) : faultsOfGone(seen)),
  };
  return Object.entries(faults)
    .filter(([, isSo]) => isSo)
    .map(([fault]) => `${fault}: ${JSON.stringify(seen)}`);
}

function faultsOfLive({ objects, openGrants, works, isTheSame }: Seen) {
  return {
    'it is not whole': objects !== 3 || openGrants !== 1,
    'it is not what the bind was given, or does not work': !isTheSame || !works,
  };
}

function faultsOfGone({ put, del, objects, openGrants, works }: Seen) {
  return {
    'something of it is left': objects > 0 || openGrants > 0,
    'its credential works': works,
    'its credential was given, and nobody deleted it': put < 300 && del !== 200,
  };
}

const whereIs = (seed: number, round: number) => `seed ${seed}, round ${round}`;

/** Longer than a request waits for a connection (3 s), and shorter than a statement may wait for a lock (5 s). */
const LOCK_HELD_MS = 4_000;

async function lockHeld(databaseUrl: string, instance: string) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query('select 1 from instances where id = $1 for update', [instance]);
  return {
    release: async () => {
      await client.query('commit');
      await client.end();
    },
  };
}

/** Numbers from 0 to 1 that the seed foretells (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
