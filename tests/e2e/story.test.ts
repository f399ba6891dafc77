// The main job from end to end, on real parts, as its user lives it: the broker as its own process on PostgreSQL, a
// real kube-apiserver attached as `own_cluster`, stock kubectl.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BrokerProcess, startBrokerProcess } from '../support/broker-process.ts';
import { type SharedCluster, sharedCluster } from '../support/cluster.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { kubectl } from '../support/kubectl.ts';
import { describeWith } from '../support/needs.ts';
import { until } from '../support/until.ts';

describeWith(
  { postgres: true, cluster: true, kubectl: true },
  'from an attached cluster to a kubeconfig that works, and then does not',
  () => {
    let database: FreshDatabase;
    let cluster: SharedCluster;
    let broker: BrokerProcess;

    beforeAll(async () => {
      cluster = sharedCluster();
      database = await freshDatabase();
      broker = await startBrokerProcess({ databaseUrl: database.url });
    });

    afterAll(async () => {
      await broker.end('SIGTERM');
      await database.drop();
    });

    it('is the story', async () => {
      const { platform } = broker;
      const ids = { instance: 'story-instance', binding: 'story-binding' };

      const accepted = await platform.provision(ids, cluster.adminKubeconfig, { name: 'story' });
      expect(accepted.status).toBe(202);
      await succeeded(broker, ids);
      expect((await platform.getInstance(ids)).body).toEqual({
        service_id: '47c9dcbf-ff30-448e-ab36-d3bad66ba281',
        plan_id: '03e3cb66-a4c6-4c6a-b4b0-5d42224debea',
        parameters: { name: 'story' },
      });

      const bound = await platform.bind(ids, { expiration_seconds: 900 });
      expect(bound.status).toBe(201);
      const { kubeconfig } = bound.body.credentials;

      const namespaces = await kubectl(kubeconfig, ['get', 'namespaces', '--output=name']);
      expect(namespaces).toMatchObject({ status: 0 });
      expect(namespaces.stdout).toContain('namespace/kube-system');
      await kubectl(cluster.adminKubeconfig, [
        'create',
        'secret',
        'generic',
        'story-secret',
        '--from-literal=word=sesame-open',
      ]);
      const secret = await kubectl(kubeconfig, [
        'get',
        'secret',
        'story-secret',
        '--output=jsonpath={.data.word}',
      ]);
      expect(Buffer.from(secret.stdout, 'base64').toString()).toBe('sesame-open');

      const fetched = await platform.getBinding(ids);
      expect(fetched.status).toBe(200);
      expect(fetched.body.credentials).toEqual(bound.body.credentials);

      expect(await platform.unbind(ids)).toMatchObject({ status: 200, body: {} });
      const refused = await kubectl(kubeconfig, ['get', 'namespaces']);
      expect(refused.status).not.toBe(0);
      expect(refused.stderr).toMatch(/Forbidden|Unauthorized|must be logged in/);

      expect((await platform.deprovision(ids)).status).toBe(202);
      await succeeded(broker, ids);
      expect((await platform.getInstance(ids)).status).toBe(404);
      const installation = installationIn(broker.output());
      const ours = await kubectl(cluster.adminKubeconfig, [
        'get',
        'serviceaccounts,clusterroles,clusterrolebindings',
        '--all-namespaces',
        '--output=name',
        `--selector=app.kubernetes.io/managed-by=runtime-broker,runtime-broker/installation=${installation}`,
      ]);
      expect(ours).toMatchObject({ status: 0, stdout: '' });
    });
  },
);

async function succeeded(broker: BrokerProcess, ids: { readonly instance: string }): Promise<void> {
  await until({
    what: 'the operation has succeeded',
    limitMs: 20_000,
    isSo: async () => (await broker.platform.lastOperation(ids)).body['state'] === 'succeeded',
  });
}

function installationIn(output: string): string {
  const id = /"installation":"([0-9a-f-]{36})"/.exec(output)?.[1];
  if (id === undefined) {
    throw new Error('the log does not name the installation');
  }
  return id;
}
