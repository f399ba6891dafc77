// An older database is put back: the clusters show it, nothing is removed there until an operator has confirmed
// it, and what is issued meanwhile is not harmed.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeOrphanGrants } from '../../../src/background/remove-orphan-grants.ts';
import { confirmRestore } from '../../../src/broker/confirm-restore.ts';
import { ClusterClient } from '../../../src/kubernetes/cluster-client.ts';
import { readKubeconfig } from '../../../src/kubernetes/read-kubeconfig.ts';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';
import type { TestBroker } from '../../support/broker.ts';
import { backUpLedger } from '../../support/ledger-backup.ts';
import { describeWith } from '../../support/needs.ts';
import { plantGrant, type Sweeper, sweeperOf } from '../../support/orphan-sweep.ts';
import { startTestSandbox, type TestCluster, type TestSandbox } from '../../support/sandbox.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describeWith({ postgres: true }, 'a database that was restored from an older backup', () => {
  let sandbox: TestSandbox;
  let concerned: TestCluster;
  let other: TestCluster;
  let scene: Scene;
  let replica: TestBroker;
  let sweeper: Sweeper;
  const instances = { concerned: '', other: '' };
  const tokens = new Map<string, string>();

  async function withClient<T>(
    cluster: TestCluster,
    act: (client: ClusterClient) => Promise<T>,
  ): Promise<T> {
    const client = new ClusterClient(readKubeconfig(cluster.adminKubeconfig));
    try {
      return await act(client);
    } finally {
      await client.close();
    }
  }

  async function bind(broker: TestBroker, word: string): Promise<void> {
    const ids = { instance: instances.concerned, binding: newId(word) };
    const bound = await broker.platform.bind(ids);
    expect(bound.status).toBe(201);
    tokens.set(word, bound.body.credentials.token);
  }

  const works = async (word: string): Promise<boolean> =>
    (await scene.eyes.statusWith(tokens.get(word) ?? '')) === 200;

  const plantOld = (cluster: TestCluster) =>
    withClient(cluster, (client) => {
      const markedAt = new Date(sweeper.now().getTime() - 25 * HOUR_MS);
      return plantGrant(client, sweeper.broker, { markedAt });
    });

  const warnings = async (): Promise<readonly string[]> => {
    const answer = await fetch(`${replica.operatorUrl}/readyz`);
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { warnings: string[] }).warnings;
  };

  const metric = async (): Promise<string | undefined> => {
    const text = await (await fetch(`${replica.operatorUrl}/metrics`)).text();
    return /^runtime_broker_suspected_restores (\S+)$/m.exec(text)?.[1];
  };

  beforeAll(async () => {
    sandbox = await startTestSandbox();
    concerned = sandbox.openCluster('concerned');
    other = sandbox.openCluster('other');
    scene = await openScene({ cluster: concerned });
    instances.concerned = await scene.attach();
    instances.other = await scene.attach({ kubeconfig: other.adminKubeconfig });
    await bind(scene.broker, 'before');
    const backup = await backUpLedger(scene.ledger);
    await bind(scene.broker, 'lost');
    await scene.broker.stop();
    await backup.restore();
    replica = await scene.openReplica();
    // So that what was issued a moment ago is old enough to be judged.
    sweeper = sweeperOf(replica.composition.broker, scene.ledger, 10 * MINUTE_MS);
    await sweeper.makeDue();
    await plantOld(concerned);
    await plantOld(other);
  });

  afterAll(async () => {
    await scene.close();
    await sandbox.stop();
  });

  it('is told by no warning before a cluster has shown it', async () => {
    expect(await warnings()).toEqual([]);
    expect(await metric()).toBe('0');
  });

  it('is seen, and stops removal on the clusters concerned and on no others', async () => {
    await bind(replica, 'after');
    const options = { isDryRun: true };
    expect(await sweeper.sweep(options)).toMatchObject({ scanned: 2, orphans: 1, heldBack: 6 });
    expect(await metric()).toBe('0');

    expect(await sweeper.sweep()).toMatchObject({ scanned: 2, orphans: 1, failed: 0, heldBack: 6 });

    const { installation } = sweeper.broker.marker();
    const labels = encodeURIComponent(`runtime-broker/installation=${installation}`);
    const left = await withClient(other, (client) =>
      client.request<{ kind: string; items: unknown[] }>({
        method: 'GET',
        path: `/api/v1/serviceaccounts?labelSelector=${labels}`,
        action: 'look',
        expect: ['ServiceAccountList'],
      }),
    );
    expect(left.items).toEqual([]);
    const told = replica.log().filter((line) => line['event'] === 'restore-suspected');
    expect(told).toMatchObject([{ clusterUid: concerned.uid, instanceId: instances.concerned }]);
  });

  it('is told by a warning that names the cluster’s instance and the way on, and by a metric', async () => {
    const [warning, ...others] = await warnings();
    expect(others).toEqual([]);
    expect(warning).toContain(`1 cluster has grants that it does not know`);
    expect(warning).toContain(instances.concerned);
    expect(warning).not.toContain(instances.other);
    expect(warning).toContain('runtime-broker confirm-restore INSTANCE --reason TEXT');
    expect(await metric()).toBe('1');
  });

  it('harms nobody for as long as it is not confirmed', async () => {
    for (let round = 0; round < 3; round += 1) {
      expect(await sweeper.sweep()).toMatchObject({ orphans: 0, failed: 0, heldBack: 6 });
    }
    expect(await Promise.all(['before', 'lost', 'after'].map(works))).toEqual([true, true, true]);
    expect((await scene.objects()).length).toBe(12);
  });

  it('is confirmed for a cluster by any of its instances, with who and why', async () => {
    const { broker } = sweeper;
    const said = { actor: 'operator', reason: 'the disk was lost' };
    const unknown = confirmRestore(broker, { ...said, instanceId: 'unknown' });
    await expect(unknown).rejects.toMatchObject({ code: 'instance-not-found' });
    const elsewhere = await confirmRestore(broker, { ...said, instanceId: instances.other });
    expect(elsewhere).toEqual({ confirmed: false });
    expect(await scene.ledger.sql('select 1 from events')).toEqual([]);

    const confirmation = { ...said, instanceId: instances.concerned };
    expect(await confirmRestore(broker, confirmation)).toEqual({ confirmed: true });
    expect(await confirmRestore(broker, confirmation)).toEqual({ confirmed: false });
    expect(await scene.ledger.sql('select type, instance_id, actor, reason from events')).toEqual([
      { type: 'restore-confirmed', instance_id: instances.concerned, ...said },
    ]);
    expect(await warnings()).toEqual([]);
    expect(await metric()).toBe('0');
  });

  it('is then settled, and what has a row is not touched', async () => {
    await bind(replica, 'later');
    // The confirmation has made it the turn of this cluster.
    const { signal } = new AbortController();
    const swept = await removeOrphanGrants(sweeper.broker, { signal });
    expect(swept).toMatchObject({ scanned: 1, orphans: 2, failed: 0, heldBack: 0 });
    const words = ['before', 'lost', 'after', 'later'];
    expect(await Promise.all(words.map(works))).toEqual([true, false, true, true]);
    expect((await scene.objects()).length).toBe(9);
  });

  it('is seen anew when it happens again', async () => {
    const later = sweeperOf(replica.composition.broker, scene.ledger, 30 * MINUTE_MS);
    const markedAt = new Date(later.now().getTime() - 6 * MINUTE_MS);
    await withClient(concerned, (client) => plantGrant(client, later.broker, { markedAt }));
    expect(await later.sweep()).toMatchObject({ orphans: 0, heldBack: 3 });
    expect(await metric()).toBe('1');
  });
});
