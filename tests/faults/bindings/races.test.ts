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

  it('50 binds at a limit of 10: ten are 201, the others 400', async () => {
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

  it('20 binds of one id: one grant, one credential, one 201 and else 200', async () => {
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
    'a bind against a DELETE of its id: in the end it lives and works, or nothing of it is left',
    async () => {
      const seed = randomInt(2 ** 31);
      const draw = seeded(seed);
      const ids = { instance: await scene.attach(), binding: newId('both') };
      for (let round = 0; round < ROUNDS; round += 1) {
        const [binder, unbinder] = draw() < 0.5 ? platforms : [platforms[1], platforms[0]];
        const [bindAfterMs, unbindAfterMs] = [draw() * LONGEST_DELAY_MS, draw() * LONGEST_DELAY_MS];
        const where = `seed ${seed}, round ${round}`;
        const [bound, unbound] = await Promise.all([
          pause(bindAfterMs).then(() => binder.bind(ids)),
          pause(unbindAfterMs).then(() => unbinder.unbind(ids)),
        ]);
        expect(bound.status, where).toBeOneOf([200, 201, 422]);
        expect(unbound.status, where).toBeOneOf([200, 410, 422]);
        await expectWhole(ids, { bound, unbound, where });
      }
    },
    ROUNDS_LIMIT_MS,
  );

  interface Round {
    readonly bound: OsbAnswer<BindingBody>;
    readonly unbound: OsbAnswer<unknown>;
    readonly where: string;
  }

  /** All requests are answered, so what is there is there to stay. */
  async function expectWhole(ids: Required<Ids>, { bound, unbound, where }: Round): Promise<void> {
    const fetched = await scene.platform.getBinding(ids);
    const objects = await scene.objects(ids.binding);
    const open = (await grantsOf(ids)).filter(({ ended_at }) => ended_at === null);
    if (fetched.status === 200) {
      expect(await worksWith(fetched), where).toBe(true);
      expect([objects.length, open.length], where).toEqual([3, 1]);
      // Whoever was given a credential before the DELETE, or after it, was given one that was true then.
      expect(bound.status < 300, where).toBe(true);
      expect(bound.body.credentials.token, where).toBe(fetched.body.credentials.token);
      return;
    }
    expect(fetched.status, where).toBe(404);
    expect([objects.length, open.length], where).toEqual([0, 0]);
    if (bound.status < 300) {
      // A credential that was handed out and is dead was deleted, by the one who said so.
      expect(unbound.status, where).toBe(200);
      expect(await worksWith(bound), where).toBe(false);
    }
  }

  it(
    'binds against the end of their instance: nothing of them is left',
    async () => {
      const seed = randomInt(2 ** 31);
      const draw = seeded(seed);
      for (let round = 0; round < 10; round += 1) {
        const where = `seed ${seed}, round ${round}`;
        const instance = await scene.attach();
        const all = Array.from({ length: 6 }, (_, at) => ({ instance, binding: `b-${at % 4}` }));
        const delayMs = draw() * LONGEST_DELAY_MS;
        const [answers, ended] = await Promise.all([
          bindTogether(platforms, all),
          pause(delayMs).then(() => platforms[round % 2 === 0 ? 0 : 1].deprovision({ instance })),
        ]);
        expect(ended.status, where).toBe(202);
        // 404 to who comes when it has ended.
        for (const { status } of answers) expect(status, where).toBeOneOf([200, 201, 404, 422]);
        expect(await operationEnded(scene.platform, { instance }), where).toBe('succeeded');
        const open = (await grantsOf({ instance })).filter(({ ended_at }) => ended_at === null);
        expect(open, where).toEqual([]);
        const left = (await scene.objects()).filter(
          ({ metadata }) => metadata.annotations?.['runtime-broker/instance-id'] === instance,
        );
        expect(left, where).toEqual([]);
        for (const answer of answers.filter(({ status }) => status < 300)) {
          expect(await worksWith(answer), where).toBe(false);
        }
      }
    },
    PATIENT_TEST_MS,
  );

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
