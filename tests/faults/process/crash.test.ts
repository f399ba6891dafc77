// kill -9 in the middle of operations: another process on the same database ends them, once, from where they were, by
// the rows alone (docs/architecture.md, "Operations"). The jobs that woke them are lost with the process.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClusterEyes, openClusterEyes } from '../../support/cluster-administrator.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { type SharedCluster, sharedCluster } from '../../support/cluster.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { type LedgerEyes, openLedgerEyes } from '../../support/ledger-dump.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';
import { newId } from '../../integration/bindings/scene.ts';
import { drawSealingKeys } from '../../integration/instances/attached-cluster.ts';
import { operationEnded, PATIENT_TEST_MS } from '../../integration/instances/waits.ts';
import { type OpenedBroker, openBrokerProcess } from './opened-broker.ts';

describeWith({ postgres: true, cluster: true }, 'a process that is killed', () => {
  let cluster: SharedCluster;
  let database: FreshDatabase;
  let ledger: LedgerEyes;
  let eyes: ClusterEyes;
  let env: Readonly<Record<string, string>>;
  let broker: OpenedBroker;

  beforeAll(async () => {
    cluster = sharedCluster();
    database = await freshDatabase();
    ledger = openLedgerEyes(database.url);
    eyes = openClusterEyes(cluster.adminKubeconfig);
    env = { RUNTIME_BROKER_SEALING_KEYS: drawSealingKeys() };
    broker = await openBrokerProcess({ databaseUrl: database.url, env });
    await broker.untilReady();
  });

  afterAll(async () => {
    await broker.end('SIGTERM');
    await Promise.all([ledger.close(), eyes.close()]);
    await database.drop();
  });

  it(
    'in the middle of two operations has both ended by the next one, from the step where they were',
    async () => {
      const { platform } = broker;
      const [provisioning, deprovisioning] = await Promise.all([
        openClusterProxy(cluster),
        openClusterProxy(cluster),
      ]);
      const made = { instance: newId('made') };
      const gone = { instance: newId('gone'), binding: newId('b') };
      await platform.provision(gone, deprovisioning.adminKubeconfig);
      expect(await operationEnded(platform, gone)).toBe('succeeded');
      const { token } = (await platform.bind(gone)).body.credentials;

      const holds = [
        provisioning.misbehave({ on: /selfsubjectaccessreviews$/, act: { kind: 'hold' } }),
        deprovisioning.misbehave({ on: /./, act: { kind: 'hold' } }),
      ];
      await platform.provision(made, provisioning.adminKubeconfig);
      await platform.deprovision(gone);
      await until({
        what: 'both are held',
        limitMs: 20_000,
        isSo: () => holds.every((hold) => hold.seen() > 0),
      });
      expect(await broker.end('SIGKILL')).toBeNull();
      for (const proxy of [provisioning, deprovisioning]) proxy.behave();
      broker = await openBrokerProcess({ databaseUrl: database.url, env });
      await broker.untilReady();

      expect(await operationEnded(broker.platform, made)).toBe('succeeded');
      expect(await operationEnded(broker.platform, gone)).toBe('succeeded');
      expect(await latestOf(made.instance)).toEqual({ state: 'succeeded', claims: 2 });
      expect(await latestOf(gone.instance)).toEqual({ state: 'succeeded', claims: 2 });
      expect(eventsOf(broker, 'operation-succeeded')).toHaveLength(2);
      expect(broker.log()).toContainEqual(
        expect.objectContaining({ msg: 'operations without a runner woken' }),
      );
      // The step before was done and stored, so it was not run again.
      expect(provisioning.requests(/kube-system$/)).toHaveLength(1);
      expect([401, 403]).toContain(await eyes.statusWith(token));
      await stopAll([provisioning, deprovisioning]);
    },
    PATIENT_TEST_MS,
  );

  it(
    'in the middle of an update, a suspension and a resumption has all of them ended by the next one',
    async () => {
      const { platform } = broker;
      const proxies = await Promise.all([1, 2, 3].map(() => openClusterProxy(cluster)));
      const [updating, suspending, resuming] = proxies as [
        ClusterProxy,
        ClusterProxy,
        ClusterProxy,
      ];
      const updated = { instance: newId('updated') };
      const suspended = { instance: newId('suspended'), binding: newId('b') };
      const resumed = { instance: newId('resumed'), binding: newId('b') };
      await platform.provision(updated, cluster.adminKubeconfig);
      await platform.provision(suspended, suspending.adminKubeconfig);
      await platform.provision(resumed, resuming.adminKubeconfig);
      for (const ids of [updated, suspended, resumed]) {
        expect(await operationEnded(platform, ids)).toBe('succeeded');
      }
      const { token } = (await platform.bind(suspended)).body.credentials;
      await platform.update(resumed, { context: { active: false } });
      expect(await operationEnded(platform, resumed)).toBe('succeeded');

      const holds = proxies.map((proxy) => proxy.misbehave({ on: /./, act: { kind: 'hold' } }));
      const parameters = { kubeconfig: updating.adminKubeconfig, name: 'new' };
      expect((await platform.update(updated, { parameters })).status).toBe(202);
      expect((await platform.update(suspended, { context: { active: false } })).status).toBe(202);
      expect((await platform.update(resumed, { context: { active: true } })).status).toBe(202);
      await until({
        what: 'all are held',
        limitMs: 20_000,
        isSo: () => holds.every((hold) => hold.seen() > 0),
      });
      expect(await broker.end('SIGKILL')).toBeNull();
      for (const proxy of proxies) proxy.behave();
      broker = await openBrokerProcess({ databaseUrl: database.url, env });
      await broker.untilReady();

      for (const ids of [updated, suspended, resumed]) {
        expect(await operationEnded(broker.platform, ids)).toBe('succeeded');
        expect(await latestOf(ids.instance)).toMatchObject({ state: 'succeeded' });
      }
      const { body } = await broker.platform.getInstance(updated);
      expect(body['parameters']).toEqual({ name: 'new' });
      const bound = await broker.platform.bind({ ...updated, binding: newId('b') });
      expect(bound.body.credentials.server).toBe(updating.server);
      expect([401, 403]).toContain(await eyes.statusWith(token));
      expect((await broker.platform.bind(suspended)).status).toBe(400);
      expect((await broker.platform.bind(resumed)).status).toBe(201);
      await stopAll(proxies);
    },
    PATIENT_TEST_MS,
  );

  async function latestOf(instance: string) {
    const [row] = await ledger.sql<{ state: string; claims: number }>(
      `select o.state, o.claims from operations o join instances i on i.key = o.instance_key
        where i.id = $1 order by o.number desc limit 1`,
      [instance],
    );
    return row;
  }
});

function eventsOf(broker: OpenedBroker, event: string) {
  return broker.log().filter((line) => line['event'] === event);
}

async function stopAll(proxies: readonly ClusterProxy[]): Promise<void> {
  await Promise.all(proxies.map((proxy) => proxy.stop()));
}
