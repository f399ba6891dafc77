// What must not stop or slow a sweep: thousands of objects that only look like ours, objects as long as they can be,
// dead clusters, and accesses that do not work any more.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { removeOrphanGrants } from '../../../src/background/remove-orphan-grants.ts';
import { ClusterClient } from '../../../src/kubernetes/cluster-client.ts';
import { readKubeconfig } from '../../../src/kubernetes/read-kubeconfig.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeWith } from '../../support/needs.ts';
import { plantGrant, type Sweeper, sweeperOf } from '../../support/orphan-sweep.ts';
import { startTestSandbox, type TestCluster, type TestSandbox } from '../../support/sandbox.ts';
import { openScene, type Scene } from '../bindings/scene.ts';

const HOUR_MS = 3_600_000;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** More than one scan looks through: 40 pages of 250. */
const MANY = 12_000;

describeWith({ postgres: true }, 'a sweep for orphans is not stopped', () => {
  let sandbox: TestSandbox;
  let scene: Scene;
  let sweeper: Sweeper;
  let home: TestCluster;

  beforeAll(async () => {
    sandbox = await startTestSandbox();
    home = sandbox.openCluster('home');
    scene = await openScene({ cluster: home });
    sweeper = sweeperOf(scene.broker.composition.broker, scene.ledger);
  });

  beforeEach(async () => {
    await scene.ledger.sql(`update instances set deleted_at = now() where deleted_at is null`);
  });

  afterAll(async () => {
    await scene.close();
    await sandbox.stop();
  });

  const ago = (ms: number): Date => new Date(sweeper.now().getTime() - ms);

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

  const plantOld = (cluster: TestCluster) =>
    withClient(cluster, (client) =>
      plantGrant(client, sweeper.broker, { markedAt: ago(25 * HOUR_MS) }),
    );

  /** Roles with our labels, of names before and after ours. */
  async function makeLookalikes(
    cluster: TestCluster,
    { count, padding = 0 }: { readonly count: number; readonly padding?: number },
  ): Promise<void> {
    const { installation } = sweeper.broker.marker();
    const labels = {
      'app.kubernetes.io/managed-by': 'runtime-broker',
      'runtime-broker/installation': installation,
    };
    const annotations = {
      'runtime-broker/mark': `1.${'A'.repeat(43)}`,
      ...(padding === 0 ? {} : { padding: 'x'.repeat(padding) }),
    };
    await withClient(cluster, async (client) => {
      const numbers = Array.from({ length: count }, (_, at) => at);
      const work = async (): Promise<void> => {
        for (let at = numbers.pop(); at !== undefined; at = numbers.pop()) {
          const name = `${at % 2 === 0 ? 'a' : 'z'}-${at}`;
          await client.request({
            method: 'POST',
            path: `${RBAC}/clusterroles`,
            body: {
              apiVersion: 'rbac.authorization.k8s.io/v1',
              kind: 'ClusterRole',
              metadata: { name, labels, annotations },
              rules: [],
            },
            action: 'make a lookalike',
            expect: ['ClusterRole'],
          });
        }
      };
      await Promise.all(Array.from({ length: 16 }, work));
    });
  }

  it('by thousands of lookalikes: it goes on where it stopped, and the others have their turn', async () => {
    const hostile = sandbox.openCluster('hostile');
    const quiet = sandbox.openCluster('quiet');
    await scene.attach({ kubeconfig: hostile.adminKubeconfig });
    await scene.attach({ kubeconfig: quiet.adminKubeconfig });
    await makeLookalikes(hostile, { count: MANY });
    await plantOld(hostile);
    await plantOld(quiet);

    const first = await sweeper.sweep();
    expect(first).toMatchObject({ scanned: 2, failed: 0, heldBack: 0 });
    // The role of the hostile cluster's orphan lies beyond what one scan looks through.
    expect(first.reported).toBeGreaterThan(5_000);
    expect(first.reported).toBeLessThan(MANY);

    const left = await scene.ledger.sql<{ scan_position: string }>(
      'select scan_position from instances where scan_position is not null',
    );
    expect(left).toHaveLength(1);
    expect(left[0]?.scan_position).toMatch(/^ClusterRole \S+$/);
    const aMinuteLater = {
      ...sweeper.broker,
      clock: () => new Date(sweeper.now().getTime() + 61_000),
    };
    const second = await removeOrphanGrants(aMinuteLater, {
      signal: new AbortController().signal,
    });
    expect(second).toMatchObject({ scanned: 1, failed: 0 });
    expect(first.reported + second.reported).toBe(MANY);
    expect(
      await scene.ledger.sql('select 1 from instances where scan_position is not null'),
    ).toEqual([]);
    await withClient(hostile, async (client) => {
      const { items } = await client.request<{ kind: string; items: unknown[] }>({
        method: 'GET',
        path: `${RBAC}/clusterroles?labelSelector=runtime-broker/installation`,
        action: 'count',
        expect: ['ClusterRoleList'],
      });
      expect(items).toHaveLength(MANY);
    });
  }, 120_000);

  it('by objects so long that a page of them is no answer any more', async () => {
    const cluster = sandbox.openCluster('long');
    await scene.attach({ kubeconfig: cluster.adminKubeconfig });
    await makeLookalikes(cluster, { count: 60, padding: 250_000 });
    await plantOld(cluster);
    expect(await sweeper.sweep()).toMatchObject({
      scanned: 1,
      orphans: 1,
      failed: 0,
      reported: 60,
    });
  });

  it('by clusters that do not answer', async () => {
    const silent: ClusterProxy[] = [];
    for (let at = 0; at < 3; at += 1) {
      const proxy = await openClusterProxy(sandbox.openCluster(`silent-${at}`));
      silent.push(proxy);
      await scene.attach({ kubeconfig: proxy.adminKubeconfig });
      proxy.misbehave({ on: /./, act: { kind: 'hold' } });
    }
    const live = sandbox.openCluster('live');
    await scene.attach({ kubeconfig: live.adminKubeconfig });
    const orphan = await plantOld(live);
    // The silent ones are due first.
    await sweeper.makeDue();
    await scene.ledger.sql(
      `update instances set next_scan_at = next_scan_at + interval '1 second' where cluster_uid = $1`,
      [live.uid],
    );
    const running = removeOrphanGrants(sweeper.broker, { signal: new AbortController().signal });
    const statusWith = (token: string) =>
      withClient(live, (client) =>
        client.statusWith(orphan.token, { path: '/api/v1/namespaces', action: token }),
      );
    await expect.poll(() => statusWith('look'), { timeout: 5_000 }).toBeGreaterThanOrEqual(401);
    expect(await running).toMatchObject({ scanned: 1, orphans: 1, failed: 3 });
    await Promise.all(silent.map((proxy) => proxy.stop()));
  });

  it('by an access that does not work any more, where another instance has one that does', async () => {
    const cluster = sandbox.openCluster('twice');
    await scene.attach({ kubeconfig: cluster.adminKubeconfig });
    const proxy = await openClusterProxy(cluster);
    await scene.attach({ kubeconfig: proxy.adminKubeconfig });
    await proxy.takeDown();
    await plantOld(cluster);
    expect(await sweeper.sweep()).toMatchObject({ scanned: 1, orphans: 1, failed: 0 });
    await proxy.stop();
  });

  it('and removes nothing where another cluster answers at the address', async () => {
    const attached = sandbox.openCluster('attached');
    const instance = await scene.attach({ kubeconfig: attached.adminKubeconfig });
    await plantOld(attached);
    await scene.ledger.sql('update instances set cluster_uid = $2 where id = $1', [
      instance,
      'another-uid',
    ]);
    expect(await sweeper.sweep()).toMatchObject({ scanned: 0, orphans: 0, failed: 1 });
    const told = scene.broker.log().filter((line) => line['event'] === 'cluster-scan-failed');
    expect(told.at(-1)).toMatchObject({ cause: 'other-cluster' });
  });

  it('and removes nothing where it is not known any more which cluster has answered', async () => {
    const cluster = sandbox.openCluster('switched');
    const proxy = await openClusterProxy(cluster);
    await scene.attach({ kubeconfig: proxy.adminKubeconfig });
    await plantOld(cluster);
    expect(await sweeper.sweep({ isDryRun: true })).toMatchObject({ scanned: 1, orphans: 1 });
    proxy.misbehave({ on: /clusterroles\?/, act: { kind: 'cut' }, times: 1 });
    proxy.misbehave({ on: /namespaces\/kube-system/, act: { kind: 'answer', status: 500 } });
    expect(await sweeper.sweep()).toMatchObject({ scanned: 0, orphans: 0, failed: 1 });
    expect(proxy.requests(/^(PATCH|DELETE) .*planted/)).toEqual([]);
    proxy.behave();
    expect(await sweeper.sweep()).toMatchObject({ scanned: 1, orphans: 1, failed: 0 });
    await proxy.stop();
  });

  it('by a limit of its own: what the cluster refuses to delete is told, and the rest goes', async () => {
    const cluster = sandbox.openCluster('refusing');
    const proxy = await openClusterProxy(cluster);
    await scene.attach({ kubeconfig: proxy.adminKubeconfig });
    const stubborn = await plantOld(cluster);
    await plantOld(cluster);
    proxy.misbehave({
      on: new RegExp(`(PATCH|DELETE) .*${stubborn.name}`),
      act: { kind: 'answer', status: 403 },
    });
    expect(await sweeper.sweep()).toMatchObject({ scanned: 1, orphans: 1, failed: 1 });
    proxy.behave();
    expect(await sweeper.sweep()).toMatchObject({ scanned: 1, orphans: 1, failed: 0 });
    await proxy.stop();
  });
});
