// SIGTERM and SIGINT: what runs is finished, or put down so that the next process goes on with it at once; the exit
// status says that all was in order.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { type SharedCluster, sharedCluster } from '../../support/cluster.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { type LedgerEyes, openLedgerEyes } from '../../support/ledger-dump.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';
import { newId } from '../../integration/bindings/scene.ts';
import { drawSealingKeys } from '../../integration/instances/attached-cluster.ts';
import { operationEnded } from '../../integration/instances/waits.ts';
import { type OpenedBroker, openBrokerProcess } from './opened-broker.ts';

describeWith({ postgres: true, cluster: true }, 'a process that is told to end', () => {
  let cluster: SharedCluster;
  let database: FreshDatabase;
  let ledger: LedgerEyes;
  let env: Readonly<Record<string, string>>;
  let proxy: ClusterProxy;
  let broker: OpenedBroker;

  beforeAll(async () => {
    cluster = sharedCluster();
    database = await freshDatabase();
    ledger = openLedgerEyes(database.url);
    env = { RUNTIME_BROKER_SEALING_KEYS: drawSealingKeys() };
  });

  beforeEach(async () => {
    proxy = await openClusterProxy(cluster);
    broker = await openBrokerProcess({ databaseUrl: database.url, env });
    await broker.untilReady();
    return async () => {
      await broker.end('SIGKILL');
      await proxy.stop();
    };
  });

  afterAll(async () => {
    await ledger.close();
    await database.drop();
  });

  async function attached(): Promise<{ readonly instance: string; readonly binding: string }> {
    const ids = { instance: newId('i'), binding: newId('b') };
    await broker.platform.provision(ids, proxy.adminKubeconfig);
    expect(await operationEnded(broker.platform, ids)).toBe('succeeded');
    return ids;
  }

  function seen(): Promise<readonly { readonly seen_at: Date }[]> {
    return ledger.sql('select seen_at from replicas');
  }

  function untilStopping(): Promise<void> {
    return until({
      what: 'the process has taken the signal',
      limitMs: 20_000,
      isSo: () => broker.log().some(({ msg }) => msg === 'stopping'),
    });
  }

  it('by SIGTERM answers the bind that runs, then ends with status 0; the next start finds all in order', async () => {
    const ids = await attached();
    const held = proxy.misbehave({ on: /\/token$/, act: { kind: 'hold' } });
    const binding = broker.platform.bind(ids);
    await until({ what: 'the bind is held', limitMs: 20_000, isSo: () => held.seen() > 0 });

    const ended = broker.end('SIGTERM');
    await untilStopping();
    await expect(fetch(`${broker.publicUrl}/v2/catalog`)).rejects.toThrow('fetch failed');
    // It is seen for as long as it issues: others would take over from one that is not.
    const [{ seen_at: seenAt } = { seen_at: new Date(0) }] = await seen();
    await until({
      what: 'the replica is seen again while it answers',
      limitMs: 10_000,
      isSo: async () => ((await seen())[0]?.seen_at ?? seenAt) > seenAt,
    });
    held.end();

    const bound = await binding;
    expect(bound.status).toBe(201);
    expect(await ended).toBe(0);
    expect(broker.log().at(-1)).toMatchObject({ msg: 'stopped' });
    expect(broker.log().filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
    expect(await ledger.sql('select 1 from replicas')).toEqual([]);

    broker = await openBrokerProcess({ databaseUrl: database.url, env });
    await broker.untilReady();
    expect(broker.log().some(({ msg }) => msg === 'migrated')).toBe(false);
    expect((await broker.platform.getBinding(ids)).body.credentials).toEqual(
      bound.body.credentials,
    );
    expect((await broker.platform.unbind(ids)).status).toBe(200);
  });

  it('by SIGTERM does not wait for clients that never send a whole request', async () => {
    const port = Number(new URL(broker.publicUrl).port);
    const clients = ['', 'GET /v2/catalog HTTP/1.1\r\n'].map((bytes) =>
      connect(port, '127.0.0.1', function sendSome(this: Socket) {
        this.write(bytes);
      }).on('error', () => undefined),
    );
    await Promise.all(clients.map((client) => once(client, 'connect')));

    expect(await broker.end('SIGTERM')).toBe(0);
  });

  it('by SIGINT puts an operation down in its step, and the next one takes it up at once', async () => {
    const ids = { instance: newId('i') };
    const held = proxy.misbehave({ on: /selfsubjectaccessreviews$/, act: { kind: 'hold' } });
    await broker.platform.provision(ids, proxy.adminKubeconfig);
    await until({ what: 'a step is held', limitMs: 20_000, isSo: () => held.seen() > 0 });

    expect(await broker.end('SIGINT')).toBe(0);
    expect(
      await ledger.sql("select lease_replica from operations where state = 'in progress'"),
    ).toEqual([{ lease_replica: null }]);

    held.end();
    broker = await openBrokerProcess({ databaseUrl: database.url, env });
    await broker.untilReady();
    expect(await operationEnded(broker.platform, ids)).toBe('succeeded');
    expect(proxy.requests(/kube-system$/)).toHaveLength(1);
  });

  it.each([
    ['SIGTERM', 'SIGTERM'],
    ['SIGTERM', 'SIGINT'],
  ] as const)('twice ends at once: %s, then %s', async (first, second) => {
    const ids = await attached();
    const held = proxy.misbehave({ on: /\/token$/, act: { kind: 'hold' } });
    const cut = broker.platform.bind(ids).catch((error: unknown) => error);
    await until({ what: 'the bind is held', limitMs: 20_000, isSo: () => held.seen() > 0 });
    broker.run.child.kill(first);
    await untilStopping();

    // Right after the first one it counts as the same: a person presses until it is over.
    const { child } = broker.run;
    await until({
      what: 'the process has ended',
      limitMs: 5_000,
      isSo: () => {
        child.kill(second);
        return child.exitCode !== null || child.signalCode !== null;
      },
    });
    expect(child.signalCode).toBe(second);
    expect(await cut).toBeInstanceOf(Error);
  });
});
