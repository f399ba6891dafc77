// How attaching a cluster fails: what its user is told, without a host name or a word of the cluster's; what is worth
// another try; and what a failed instance is good for (docs/api.md, "Attach a cluster"; C72, C85, C98).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wakeOperations } from '../../../src/background/wake-operations.ts';
import { type ClusterProxy, type FaultAct, openClusterProxy } from '../../support/cluster-proxy.ts';
import { type Answer, json, startHttpsServer } from '../../support/https-server.ts';
import { kubectl } from '../../support/kubectl.ts';
import { describeWith } from '../../support/needs.ts';
import type { Ids } from '../../support/platform.ts';
import { createAuthority } from '../../support/real-parts/certificates.ts';
import { until } from '../../support/until.ts';
import { openScene, type Scene } from '../bindings/scene.ts';
import { changedKubeconfig, drawToken, withToken } from './attached-cluster.ts';
import { bringInto } from './instance-states.ts';
import { type EndOfOperation, endOfOperation, operationEnded, PATIENT_TEST_MS } from './waits.ts';

/** No address, no path, no word of the other side. */
const A_SENTENCE = /^[A-Z][^/:]*(: [a-z /,-]+)?\.?$/;

describeWith({ postgres: true, cluster: true }, 'attaching a cluster', () => {
  let scene: Scene;
  let proxy: ClusterProxy;

  beforeAll(async () => {
    scene = await openScene();
    proxy = await openClusterProxy(scene.cluster);
  });

  afterAll(async () => {
    await scene.close();
    await proxy.stop();
  });

  /** Attaches, and waits for the end. */
  async function attempt(kubeconfig: string): Promise<EndOfOperation> {
    const ids = { instance: randomUUID() };
    expect((await scene.platform.provision(ids, kubeconfig)).status).toBe(202);
    return await endOfOperation(scene.platform, ids);
  }

  describe('fails at once, since no repeat can help,', () => {
    it('when the certificate is of another authority', async () => {
      const { certPem } = await createAuthority('another authority');
      const kubeconfig = changedKubeconfig(proxy.adminKubeconfig, ({ cluster }) => {
        cluster['certificate-authority-data'] = Buffer.from(certPem).toString('base64');
      });
      expect(await attempt(kubeconfig)).toEqual({
        state: 'failed',
        description: 'The cluster has a certificate that is not trusted.',
      });
    });

    it('when no authority is named and the system does not know the one of the certificate', async () => {
      const kubeconfig = changedKubeconfig(proxy.adminKubeconfig, ({ cluster }) => {
        cluster['certificate-authority-data'] = '';
      });
      expect((await attempt(kubeconfig)).description).toBe(
        'The cluster has a certificate that is not trusted.',
      );
    });

    it('when the certificate is for another name', async () => {
      const kubeconfig = changedKubeconfig(proxy.adminKubeconfig, ({ cluster }) => {
        cluster['tls-server-name'] = 'elsewhere.example';
      });
      expect((await attempt(kubeconfig)).description).toBe(
        'The cluster has a certificate that is not trusted.',
      );
    });

    it('when the token is not known to the cluster', async () => {
      expect(await attempt(withToken(scene.cluster.adminKubeconfig, drawToken()))).toEqual({
        state: 'failed',
        description: 'The cluster does not accept the credentials of the kubeconfig.',
      });
    });

    it.each<[string, Answer]>([
      ['a web page', (_, response) => response.end('<html>words-of-the-cluster</html>')],
      ['JSON of another kind', json(200, { kind: 'Pod', metadata: { uid: 'u' } })],
      ['a namespace without a uid', json(200, { kind: 'Namespace', metadata: {} })],
      ['broken JSON', (_, response) => respond(response, 'application/json', '{"kind": "Name')],
    ])('when the address answers with %s', async (_, answer) => {
      const server = await startHttpsServer();
      try {
        server.answerWith(answer);
        const { end, requests } = await attemptAt(server);
        expect(end).toEqual({
          state: 'failed',
          description: 'The cluster does not answer as a Kubernetes API server.',
        });
        expect(requests).toEqual(['GET /api/v1/namespaces/kube-system']);
      } finally {
        await server.stop();
      }
    });

    async function attemptAt(server: Awaited<ReturnType<typeof startHttpsServer>>) {
      const end = await attempt(
        changedKubeconfig(proxy.adminKubeconfig, ({ cluster }) => {
          cluster['server'] = server.url;
          cluster['certificate-authority-data'] = Buffer.from(server.authority.certPem).toString(
            'base64',
          );
        }),
      );
      return { end, requests: server.requests };
    }
  });

  describe('names the missing rights', () => {
    it('all of them, of a user who has none', async () => {
      const kubeconfig = await scene.cluster.kubeconfigFor({ commonName: 'nobody' });
      const { state, description } = await attempt(kubeconfig);
      expect(state).toBe('failed');
      for (const right of ['get namespaces', 'create serviceaccounts/token', 'bind clusterroles']) {
        expect(description).toContain(right);
      }
    });

    it.each<[string, Readonly<Record<string, unknown>>[]]>([
      [
        'create serviceaccounts/token in namespace kyma-system',
        [
          { apiGroups: [''], resources: ['namespaces', 'serviceaccounts'], verbs: ['*'] },
          { apiGroups: [RBAC], resources: ['clusterroles', 'clusterrolebindings'], verbs: ['*'] },
        ],
      ],
      [
        'escalate clusterroles',
        [
          { apiGroups: [''], resources: ['*'], verbs: ['*'] },
          { apiGroups: [RBAC], resources: ['clusterrolebindings'], verbs: ['*'] },
          {
            apiGroups: [RBAC],
            resources: ['clusterroles'],
            verbs: ['create', 'get', 'list', 'patch', 'delete', 'bind'],
          },
        ],
      ],
    ])('the only one, %s', async (right, rules) => {
      const kubeconfig = await userWith(rules);
      expect(await attempt(kubeconfig)).toEqual({
        state: 'failed',
        description: `The kubeconfig's user lacks rights on the cluster: ${right}`,
      });
    });

    it('and none of a user who has what is needed and no more', async () => {
      const kubeconfig = await userWith([
        { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'create'] },
        {
          apiGroups: [''],
          resources: ['serviceaccounts'],
          verbs: ['create', 'get', 'list', 'patch', 'delete'],
        },
        { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
        {
          apiGroups: [RBAC],
          resources: ['clusterroles'],
          verbs: ['create', 'get', 'list', 'patch', 'delete', 'bind', 'escalate'],
        },
        {
          apiGroups: [RBAC],
          resources: ['clusterrolebindings'],
          verbs: ['create', 'get', 'list', 'patch', 'delete'],
        },
      ]);
      const ids = { instance: randomUUID(), binding: 'b' };
      await scene.platform.provision(ids, kubeconfig);
      expect(await operationEnded(scene.platform, ids)).toBe('succeeded');
      // Enough for the whole life of a binding, too.
      expect((await scene.platform.bind(ids)).status).toBe(201);
      expect((await scene.platform.unbind(ids)).status).toBe(200);
    });

    /** A user with a client certificate and just these rules. */
    async function userWith(rules: readonly unknown[]): Promise<string> {
      const name = `attacher-${randomUUID()}`;
      const { eyes } = scene;
      const role = '/apis/rbac.authorization.k8s.io/v1';
      await eyes.call('POST', `${role}/clusterroles`, {
        apiVersion: `${RBAC}/v1`,
        kind: 'ClusterRole',
        metadata: { name },
        rules,
      });
      await eyes.call('POST', `${role}/clusterrolebindings`, {
        apiVersion: `${RBAC}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
        subjects: [{ apiGroup: RBAC, kind: 'User', name }],
      });
      return await scene.cluster.kubeconfigFor({ commonName: name });
    }
  });

  describe('goes on by itself', () => {
    it.concurrent.each<[string, FaultAct, number]>([
      ['is too busy', { kind: 'answer', status: 429, headers: { 'retry-after': '1' } }, 1],
      ['has an internal error', { kind: 'answer', status: 500 }, 1],
      // A read that met a connection which was cut is sent again at once.
      ['cuts the connection', { kind: 'cut' }, 2],
    ])('after a step whose cluster %s', async (_, act, times) => {
      const own = await openClusterProxy(scene.cluster);
      try {
        const fault = own.misbehave({ on: /kube-system$/, act, times });
        expect(await attempt(own.adminKubeconfig)).toEqual({
          state: 'succeeded',
          description: 'The runtime is ready.',
        });
        expect(fault.seen()).toBe(times);
      } finally {
        await own.stop();
      }
    });
  });

  describe('that failed', () => {
    it('C72, C85: leaves an instance that is good for nothing but DELETE, after which its id is free', async () => {
      const { platform, cluster } = scene;
      const { instance } = await bringInto('create failed', { platform, cluster });
      const ids = { instance, binding: 'b' };

      expect((await platform.getInstance(ids)).status).toBe(404);
      expect((await platform.bind(ids)).status).toBe(400);
      expect((await platform.unbind(ids)).status).toBe(410);
      expect((await platform.provision(ids, cluster.adminKubeconfig)).status).toBe(409);
      expect((await platform.deprovision(ids)).status).toBe(202);
      expect(await operationEnded(platform, ids)).toBe('succeeded');
      expect((await platform.provision(ids, cluster.adminKubeconfig)).status).toBe(202);
      expect(await operationEnded(platform, ids)).toBe('succeeded');
    });
  });
});

// Beside each other, since the first waits most of the time; each with a clock of its own.
describeWith({ postgres: true, cluster: true, kubectl: true }, 'own_cluster', () => {
  it.concurrent(
    'asks a cluster that never answers, or refuses connections, until the deadline, which ends the operation as failed',
    async ({ onTestFinished }) => {
      const scene = await openScene();
      const [silent, refusing] = await Promise.all([
        openClusterProxy(scene.cluster),
        openClusterProxy(scene.cluster),
      ]);
      onTestFinished(() => closeAll([scene, silent, refusing]));
      silent.misbehave({ on: /./, act: { kind: 'hold' } });
      await refusing.takeDown();
      const { platform } = scene;
      const description = async (ids: Ids) =>
        (await platform.lastOperation(ids)).body['description'];

      const hanging = { instance: 'silent' };
      const refused = { instance: 'refusing' };
      await platform.provision(hanging, silent.adminKubeconfig);
      await platform.provision(refused, refusing.adminKubeconfig);
      await until({
        what: 'both have been tried, and the user can read why it takes so long',
        limitMs: 25_000,
        isSo: async () =>
          (await description(hanging)) === 'The cluster does not answer in time.' &&
          (await description(refused)) === 'The cluster cannot be reached.',
      });
      expect((await platform.lastOperation(hanging)).body['state']).toBe('in progress');

      const [last] = await scene.ledger.sql<{ deadline: Date }>(
        'select max(deadline) as deadline from operations',
      );
      const leftMs = Number(last?.deadline) - scene.now().getTime();
      await scene.passTime(leftMs / 1000 + 1);
      await wakeOperations(scene.broker.composition.broker);

      for (const ids of [hanging, refused]) {
        const end = await endOfOperation(platform, ids);
        expect(end.state).toBe('failed');
        expect(end.description).toMatch(/^Given up at the deadline\. The cluster /);
        expect(end.description).toMatch(A_SENTENCE);
        expect((await platform.getInstance(ids)).status).toBe(404);
      }
    },
    PATIENT_TEST_MS,
  );

  it.concurrent('makes the namespace of grants where it is missing, leaves it, and finds it there again', async ({
    onTestFinished,
  }) => {
    const namespace = `grants-${randomUUID()}`;
    const scene = await openScene({
      configFile: `plans: {own_cluster: {namespace: ${namespace}}}`,
    });
    onTestFinished(() => scene.close());
    const { platform, cluster } = scene;
    const found = () =>
      kubectl(cluster.adminKubeconfig, ['get', 'namespace', namespace, '--output=name']);
    expect((await found()).status).not.toBe(0);

    for (const round of ['made', 'found']) {
      const ids = { instance: `${round}-${namespace}`, binding: 'b' };
      await scene.attach(ids);
      expect((await platform.bind(ids)).status).toBe(201);
      const [account] = await scene.objects();
      expect(account?.metadata.namespace).toBe(namespace);
      await platform.deprovision(ids);
      expect(await operationEnded(platform, ids)).toBe('succeeded');
      expect((await found()).stdout).toBe(`namespace/${namespace}\n`);
      expect(await scene.objects()).toEqual([]);
    }
  });
});

/** The broker first: it is to find the clusters that it talks to. */
async function closeAll([scene, ...proxies]: readonly [Scene, ...ClusterProxy[]]): Promise<void> {
  await scene.close();
  await Promise.all(proxies.map((proxy) => proxy.stop()));
}

const RBAC = 'rbac.authorization.k8s.io';

function respond(response: Parameters<Answer>[1], contentType: string, body: string): void {
  response.writeHead(200, { 'content-type': contentType }).end(body);
}
