// The process dies in the middle of an issue or of a revocation: the row that announced it is found by the next
// process, and a DELETE or a repeat settles it (docs/architecture.md, "The promises"; C148).
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BrokerProcess, startBrokerProcess } from '../../support/broker-process.ts';
import {
  type ClusterEyes,
  openClusterEyes,
  type SeenObject,
} from '../../support/cluster-administrator.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { sharedCluster } from '../../support/cluster.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { recordSecret } from '../../support/leak-record.ts';
import { type LedgerEyes, openLedgerEyes } from '../../support/ledger-dump.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';
import { newId, untilOperationEnds } from '../../integration/bindings/scene.ts';

describeWith({ postgres: true, cluster: true }, 'a broker that is killed', () => {
  let database: FreshDatabase;
  let ledger: LedgerEyes;
  let eyes: ClusterEyes;
  let proxy: ClusterProxy;
  let broker: BrokerProcess;
  let env: Readonly<Record<string, string>>;
  let instance: string;

  beforeAll(async () => {
    const key = randomBytes(32).toString('base64');
    recordSecret('sealing key', key);
    env = { RUNTIME_BROKER_SEALING_KEYS: `killed:${key}` };
    const cluster = sharedCluster();
    database = await freshDatabase();
    ledger = openLedgerEyes(database.url);
    eyes = openClusterEyes(cluster.adminKubeconfig);
    proxy = await openClusterProxy(cluster);
    broker = await start();
    instance = newId('killed');
    await broker.platform.provision({ instance }, proxy.adminKubeconfig);
    await untilOperationEnds(broker.platform, { instance }, 'succeeded');
  });

  afterAll(async () => {
    await broker.end('SIGTERM');
    await proxy.stop();
    await Promise.all([ledger.close(), eyes.close()]);
    await database.drop();
  });

  const start = () => startBrokerProcess({ databaseUrl: database.url, env });

  async function objects(binding: string): Promise<readonly SeenObject[]> {
    const [row] = await ledger.sql<{ id: string }>('select id from installation');
    const all = await eyes.objectsOf(row?.id ?? '');
    return all.filter(
      ({ metadata }) => metadata.annotations?.['runtime-broker/binding-id'] === binding,
    );
  }

  /** Kills the process while it waits for that answer of the cluster, and starts another one. */
  async function killDuring(on: RegExp, ask: () => Promise<unknown>): Promise<void> {
    const held = proxy.misbehave({ on, act: { kind: 'hold-answer' }, times: 1 });
    const asked = ask().catch(() => 'hung up');
    await until({ what: 'the cluster is asked', limitMs: 10_000, isSo: () => held.seen() === 1 });
    await broker.end('SIGKILL');
    expect(await asked).toBe('hung up');
    held.end();
    broker = await start();
  }

  /** Six seconds without a beat are what makes a replica dead to the others; here they are over at once. */
  async function timePassesForTheDead(): Promise<void> {
    await until({
      what: 'the living one has been seen since',
      limitMs: 10_000,
      isSo: async () => {
        const dead = await ledger.sql(
          `update replicas set seen_at = seen_at - interval '7 seconds'
          where seen_at < (select max(seen_at) from replicas) returning id`,
        );
        return dead.length > 0;
      },
    });
  }

  it('in an issue: its DELETE removes what was made', async () => {
    const ids = { instance, binding: newId('deleted') };
    await killDuring(/\/token$/, () => broker.platform.bind(ids));
    expect(await objects(ids.binding)).not.toEqual([]);
    expect((await broker.platform.getBinding(ids)).status).toBe(404);

    expect((await broker.platform.unbind(ids)).status).toBe(200);

    expect(await objects(ids.binding)).toEqual([]);
    expect((await broker.platform.unbind(ids)).status).toBe(410);
  });

  it('in an issue: its repeat waits while the dead one may live, and then takes over: 201', async () => {
    const ids = { instance, binding: newId('repeated') };
    await killDuring(/\/token$/, () => broker.platform.bind(ids));
    const left = await objects(ids.binding);
    await ledger.sql("update replicas set seen_at = now() + interval '2 seconds'");
    expect((await broker.platform.bindingOperation(ids)).body).toEqual({ state: 'in progress' });

    const bound = await broker.platform.bind(ids);

    expect(bound.status).toBe(201);
    expect(await eyes.statusWith(bound.body.credentials.token)).toBe(200);
    const uids = new Set(left.map(({ metadata }) => metadata.uid));
    const now = await objects(ids.binding);
    expect(now).toHaveLength(3);
    expect(now.filter(({ metadata }) => uids.has(metadata.uid))).toEqual([]);
    await broker.platform.unbind(ids);
  });

  it('in ten issues: none of them keeps its slot once the process is known to be dead', async () => {
    const held = proxy.misbehave({ on: /\/token$/, act: { kind: 'hold' } });
    const asked = Array.from({ length: 10 }, (_, at) =>
      broker.platform.bind({ instance, binding: `ten-${at}` }).catch(() => 'hung up'),
    );
    await until({ what: 'all are held', limitMs: 20_000, isSo: () => held.seen() === 10 });
    await broker.end('SIGKILL');
    await Promise.all(asked);
    proxy.behave();
    broker = await start();
    await timePassesForTheDead();
    const bound = await broker.platform.bind({ instance, binding: newId('eleventh') });
    expect(bound.status).toBe(201);
    expect(bound.headers.get('x-runtime-broker-bindings-remaining')).toBe('9');
    for (let at = 0; at < 10; at += 1) {
      const unbound = await broker.platform.unbind({ instance, binding: `ten-${at}` });
      // 410 where the reconciler has been there before.
      expect(unbound.status).toBeOneOf([200, 410]);
      expect(await objects(`ten-${at}`)).toEqual([]);
    }
  });

  it('in a revocation: it stays deleted, and a repeat finishes it', async () => {
    const ids = { instance, binding: newId('revoked') };
    const bound = await broker.platform.bind(ids);
    await killDuring(/^PATCH .*clusterrolebindings/, () => broker.platform.unbind(ids));
    expect((await broker.platform.getBinding(ids)).status).toBe(404);
    expect((await broker.platform.unbind(ids)).status).toBe(200);
    expect([401, 403]).toContain(await eyes.statusWith(bound.body.credentials.token));
    expect(await objects(ids.binding)).toEqual([]);
  });

  it('what was live before is handed out as it was', async () => {
    const ids = { instance, binding: newId('live') };
    const bound = await broker.platform.bind(ids);
    await broker.end('SIGKILL');
    broker = await start();
    const fetched = await broker.platform.getBinding(ids);
    expect(fetched).toMatchObject({ status: 200, body: bound.body });
    await broker.platform.unbind(ids);
  });

  it('KEB defect 16: every line of its output is JSON, whatever it does', async () => {
    const ids = { instance, binding: newId('printed') };
    expect((await broker.platform.bind(ids)).status).toBe(201);
    await broker.platform.unbind(ids);
    const events = () =>
      broker
        .output()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
        .filter(({ bindingId }) => bindingId === ids.binding)
        .flatMap(({ event }) => (event === undefined ? [] : [event]));
    await until({
      what: 'it has told what it did',
      limitMs: 10_000,
      isSo: () => events().includes('binding-ended'),
    });
    expect(events()).toEqual(['binding-issued', 'binding-ended']);
  });
});
