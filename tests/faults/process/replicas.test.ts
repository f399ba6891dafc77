// Replicas on one database: they may start at once on an empty one, know each other's secrets and marks, and share
// operations without ever running one twice (docs/architecture.md, "Operations").
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runOperation } from '../../../src/background/operation-runner.ts';
import { wakeOperations } from '../../../src/background/wake-operations.ts';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { sharedCluster } from '../../support/cluster.ts';
import { freshDatabase } from '../../support/database.ts';
import { openLedgerEyes } from '../../support/ledger-dump.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';
import { drawSealingKeys } from '../../integration/instances/attached-cluster.ts';
import { operationEnded } from '../../integration/instances/waits.ts';
import { openBrokerProcess } from './opened-broker.ts';

describeWith(
  { postgres: true, cluster: true },
  'replicas that start at once on an empty database',
  () => {
    it('as processes: one migrates, all serve, and what one has made another can end', async () => {
      const database = await freshDatabase();
      const ledger = openLedgerEyes(database.url);
      const env = { RUNTIME_BROKER_SEALING_KEYS: drawSealingKeys() };
      const open = () => openBrokerProcess({ databaseUrl: database.url, env });
      const [one, two] = await Promise.all([open(), open()]);
      try {
        await Promise.all([one.untilReady(), two.untilReady()]);

        const lines = [...one.log(), ...two.log()];
        expect(lines.filter(({ msg }) => msg === 'migrated')).toMatchObject([
          { migration: '0001-ledger' },
          { migration: '0002-reconcilers' },
          { migration: '0003-updates' },
          { migration: '0004-platform-region' },
        ]);
        const ready = lines.filter(({ msg }) => msg === 'ready');
        expect(ready).toHaveLength(2);
        expect(new Set(ready.map(({ installation }) => installation)).size).toBe(1);
        expect(new Set(ready.map(({ replica }) => replica)).size).toBe(2);
        expect(await ledger.sql('select 1 from installation')).toHaveLength(1);

        const ids = { instance: newId('shared'), binding: newId('b') };
        await one.platform.provision(ids, sharedCluster().adminKubeconfig);
        expect(await operationEnded(two.platform, ids)).toBe('succeeded');
        const bound = await two.platform.bind(ids);
        expect(bound.status).toBe(201);
        expect((await one.platform.getBinding(ids)).body.credentials).toEqual(
          bound.body.credentials,
        );
        expect((await one.platform.unbind(ids)).status).toBe(200);
        expect((await two.platform.unbind(ids)).status).toBe(410);
      } finally {
        expect(await Promise.all([one.end('SIGTERM'), two.end('SIGTERM')])).toEqual([0, 0]);
        expect(await ledger.sql('select 1 from replicas')).toEqual([]);
        await ledger.close();
        await database.drop();
      }
    });

    it('many of them: all sign with one key', async () => {
      const database = await freshDatabase();
      const env = { RUNTIME_BROKER_SEALING_KEYS: drawSealingKeys() };
      const starts = Array.from({ length: 5 }, () =>
        startBroker({ databaseUrl: database.url, env }),
      );
      const brokers = await Promise.all(starts);
      try {
        const markers = brokers.map(({ composition }) => composition.broker.marker());
        expect(new Set(markers.map(({ installation }) => installation)).size).toBe(1);
        const keys = markers.map(({ key }) => Buffer.from(key.reveal()).toString('hex'));
        expect(new Set(keys).size).toBe(1);
        const applied = brokers
          .flatMap((each) => each.log())
          .filter(({ msg }) => msg === 'migrated');
        expect(applied.map(({ migration }) => migration)).toEqual([
          '0001-ledger',
          '0002-reconcilers',
          '0003-updates',
          '0004-platform-region',
        ]);
      } finally {
        await Promise.all(brokers.map((each) => each.stop()));
        await database.drop();
      }
    });
  },
);

describeWith({ postgres: true, cluster: true }, 'an operation', () => {
  let scene: Scene;
  let replicas: readonly [TestBroker, TestBroker];
  let proxy: ClusterProxy;

  beforeAll(async () => {
    scene = await openScene();
    replicas = [scene.broker, await scene.openReplica()];
    proxy = await openClusterProxy(scene.cluster);
  });

  afterAll(async () => {
    await scene.close();
    await proxy.stop();
  });

  it('is run by one replica, however often both are woken for it', async () => {
    const ids = { instance: newId('woken') };
    const held = proxy.misbehave({ on: /kube-system$/, act: { kind: 'hold' } });
    const { body } = await scene.platform.provision(ids, proxy.adminKubeconfig);
    const operationId = String(body['operation']);
    await until({ what: 'a step is held', limitMs: 20_000, isSo: () => held.seen() > 0 });

    for (const { composition } of replicas) {
      const { broker, stopping } = composition;
      expect(await wakeOperations(broker)).toEqual({ woken: 0 });
      await broker.jobs.wake(broker.db, { operationId, at: broker.clock() });
      // As a job would that is delivered although the operation is held: it finds nothing to do.
      await runOperation(broker, operationId, stopping.signal);
    }
    held.end();
    expect(await operationEnded(scene.platform, ids)).toBe('succeeded');
    expect(proxy.requests(/kube-system$/)).toHaveLength(1);
    expect(proxy.requests(/^GET .*namespaces\/kyma-system$/)).toHaveLength(1);
    await expectClaims([operationId]);
  });

  it('is run once, also where many are shared between replicas', async () => {
    const before = proxy.requests(/kube-system$/).length;
    const instances = Array.from({ length: 12 }, () => newId('many'));
    const accepted = await Promise.all(
      instances.map((instance, at) =>
        replicas[at % 2 === 0 ? 0 : 1].platform.provision({ instance }, proxy.adminKubeconfig),
      ),
    );
    for (const instance of instances) {
      expect(await operationEnded(scene.platform, { instance })).toBe('succeeded');
    }
    expect(proxy.requests(/kube-system$/).length - before).toBe(12);
    await expectClaims(accepted.map((answer) => String(answer.body['operation'])));
  });

  /** Each was claimed once, and its end was told once over all replicas. */
  async function expectClaims(operationIds: readonly string[]): Promise<void> {
    const rows = await scene.ledger.sql<{ claims: number }>(
      'select claims from operations where id = any($1)',
      [operationIds],
    );
    expect(rows.map(({ claims }) => claims)).toEqual(operationIds.map(() => 1));
    const ends = replicas
      .flatMap((replica) => replica.log())
      .filter(({ event }) => event === 'operation-succeeded')
      .filter(({ operationId }) => operationIds.includes(String(operationId)));
    expect(ends).toHaveLength(operationIds.length);
  }
});
