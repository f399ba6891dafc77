// The limit of live bindings, and what parallel requests may not do to it or to each other (docs/api.md, "Bind"; C61,
// C62).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import type { TestBroker } from '../../support/broker.ts';
import { describeWith } from '../../support/needs.ts';
import type { OsbAnswer } from '../../support/platform.ts';
import { refusal } from './refusals.ts';
import { bindTogether, openScene, type Scene } from './scene.ts';

const LIMIT_REACHED = 'maximum number of non expired bindings reached: 10';

const statusesOf = (answers: readonly OsbAnswer<unknown>[]) =>
  answers.map(({ status }) => status).sort((a, b) => a - b);

const tenTimes = <T>(value: T): T[] => Array.from({ length: 10 }, () => value);

describeWith({ postgres: true, cluster: true }, 'the slots of an instance', () => {
  let scene: Scene;
  /** Another process as far as the broker can tell: they share nothing but the database. */
  let replica: TestBroker;

  beforeAll(async () => {
    scene = await openScene({ reconciles: false });
    replica = await scene.openReplica();
  });

  afterAll(() => scene.close());

  const liveOf = async (instance: string): Promise<number> => {
    const rows = await scene.ledger.sql<{ live: number }>(
      `select count(*)::int as live from grants g join instances i on i.key = g.instance_key
      where i.id = $1 and g.ended_at is null and g.sealed_token is not null`,
      [instance],
    );
    return rows[0]?.live ?? -1;
  };

  const bindings = (count: number) => Array.from({ length: count }, (_, at) => `b-${at}`);

  it('C129: KEB defect 37: are ten; the eleventh is told when the next one frees', async () => {
    const instance = await scene.attach();
    const expiries: string[] = [];
    for (const binding of bindings(10)) {
      // The one that ends first is neither the first nor the last.
      const seconds = binding === 'b-4' ? 600 : 1200;
      const bound = await scene.platform.bind(
        { instance, binding },
        { expiration_seconds: seconds },
      );
      expect(bound.status).toBe(201);
      expiries.push(bound.body.metadata.expires_at);
    }

    const eleventh = await refusal(scene, () =>
      scene.platform.bind({ instance, binding: 'eleventh' }),
    );
    expect(eleventh).toMatchObject({
      status: 400,
      body: { description: `${LIMIT_REACHED}; next slot frees at ${expiries[4]}` },
    });

    // A repeat takes no slot, and the bounds are asked before the slots.
    const repeated = await scene.platform.bind(
      { instance, binding: 'b-4' },
      { expiration_seconds: 600 },
    );
    expect(repeated.status).toBe(200);
    expect(repeated.headers.get('x-runtime-broker-bindings-remaining')).toBe('0');
    const short = await refusal(scene, () =>
      scene.platform.bind({ instance, binding: 'eleventh' }, { expiration_seconds: 599 }),
    );
    expect(short.body['description']).toBe('expiration_seconds cannot be less than 600');

    expect((await scene.platform.unbind({ instance, binding: 'b-4' })).status).toBe(200);
    expect((await scene.platform.bind({ instance, binding: 'eleventh' })).status).toBe(201);
    await refusal(scene, () => scene.platform.bind({ instance, binding: 'twelfth' }));
  });

  it('are an instance’s own: another one has ten more', async () => {
    const instance = await scene.attach();
    expect((await scene.platform.bind({ instance, binding: 'b-0' })).status).toBe(201);
  });

  it('KEB defect 1: of 20 parallel binds on two replicas ten are served', async () => {
    for (let round = 0; round < 3; round += 1) {
      const instance = await scene.attach();
      const answers = await bindTogether(
        [scene.platform, replica.platform],
        bindings(20).map((binding) => ({ instance, binding })),
      );
      expect(statusesOf(answers)).toEqual([...tenTimes(201), ...tenTimes(400)]);
      expect(await liveOf(instance)).toBe(10);
      const told = answers.filter(({ status }) => status === 400) as unknown as OsbAnswer[];
      for (const { body } of told) {
        expect(body['description']).toContain(LIMIT_REACHED);
      }
      const remaining = answers
        .filter(({ status }) => status === 201)
        .map(({ headers }) => Number(headers.get('x-runtime-broker-bindings-remaining')));
      expect(remaining.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
  });

  it('C61, C125: KEB defect 2: of ten parallel equal binds one issues, the others get its credential', async () => {
    for (let round = 0; round < 3; round += 1) {
      const instance = await scene.attach();
      const ids = { instance, binding: 'same' };
      const answers = await bindTogether([scene.platform, replica.platform], tenTimes(ids));

      expect(statusesOf(answers)).toEqual([...Array.from({ length: 9 }, () => 200), 201]);
      expect(new Set(answers.map(({ body }) => body.credentials.token)).size).toBe(1);
      const grants = await scene.ledger.sql(
        `select g.id from grants g join instances i on i.key = g.instance_key where i.id = $1`,
        [instance],
      );
      expect(grants).toHaveLength(1);
      expect((await scene.platform.bind(ids)).status).toBe(200);
    }
  });

  it('C62: of parallel binds of one id with different parameters one wins, the others get 409 or 422', async () => {
    const instance = await scene.attach();
    const ids = { instance, binding: 'rivals' };
    const answers = await Promise.all(
      [600, 700, 800, 900].map((seconds) =>
        scene.platform.bind(ids, { expiration_seconds: seconds }),
      ),
    );
    expect(statusesOf(answers)).toEqual([201, 409, 409, 409]);
    expect(await liveOf(instance)).toBe(1);
  });

  it('C60: parallel binds of one instance do not refuse each other', async () => {
    const instance = await scene.attach();
    const answers = await Promise.all(
      bindings(5).map((binding) => scene.platform.bind({ instance, binding })),
    );
    expect(statusesOf(answers)).toEqual([201, 201, 201, 201, 201]);
  });

  it('C143: parallel DELETEs of one binding are 200 or 410, and it is gone', async () => {
    const instance = await scene.attach();
    const ids = { instance, binding: 'unbound-together' };
    const bound = await scene.platform.bind(ids);
    const answers = await Promise.all(
      [scene, replica, scene, replica].map(({ platform }) => platform.unbind(ids)),
    );
    for (const { status } of answers) expect(status).toBeOneOf([200, 410]);
    expect(statusesOf(answers)).toContain(200);
    expect([401, 403]).toContain(await scene.eyes.statusWith(bound.body.credentials.token));
    expect(await scene.objects(ids.binding)).toEqual([]);
  });

  it('C143, C148: a bind and unbind storm on one id never leaves a credential that is dead, or objects without a binding', async () => {
    const instance = await scene.attach();
    const ids = { instance, binding: 'storm' };
    for (let round = 0; round < 10; round += 1) {
      const [bound] = await Promise.all([scene.platform.bind(ids), replica.platform.unbind(ids)]);
      expect([201, 422]).toContain(bound.status);
      const fetched = await scene.platform.getBinding(ids);
      const works =
        fetched.status === 404 ||
        (await scene.eyes.statusWith(fetched.body.credentials.token)) === 200;
      expect(works).toBe(true);
      expect((await scene.platform.unbind(ids)).status).toBeOneOf([200, 410]);
      expect(await scene.objects('storm')).toEqual([]);
    }
  });

  let proxy: ClusterProxy | undefined;

  afterAll(() => proxy?.stop());

  it('KEB defect 17: ten binds in a row make four calls each, over connections that stay open', async () => {
    proxy = await openClusterProxy(scene.cluster);
    const instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
    await scene.platform.bind({ instance, binding: 'b-0' });
    const [callsBefore, connectionsBefore] = [proxy.requests().length, proxy.connectionCount()];
    for (const binding of bindings(10).slice(1)) {
      await scene.platform.bind({ instance, binding });
    }
    expect(proxy.requests().length - callsBefore).toBe(9 * 4);
    expect(proxy.connectionCount() - connectionsBefore).toBe(0);
  });
});
