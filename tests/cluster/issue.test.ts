// Issuing a grant, and using what it gives: by stock kubectl and by a client library that is not ours.

import { randomUUID } from 'node:crypto';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { UpstreamError } from '../../src/domain/errors.ts';
import { ensureNamespace, NamespaceMissingError } from '../../src/kubernetes/namespace.ts';
import { renderKubeconfig } from '../../src/kubernetes/render-kubeconfig.ts';
import { revokeGrant } from '../../src/kubernetes/revoke-grant.ts';
import { issueGrant } from '../../src/kubernetes/token-request-issuer.ts';
import { describeOnClusters } from '../support/clusters-under-test.ts';
import { GRANTS_NAMESPACE, type Grants, grantsOn } from '../support/grants.ts';
import { kubectl } from '../support/kubectl.ts';

describeOnClusters('a grant', (open) => {
  let grants: Grants;
  const admin = (args: readonly string[]) => kubectl(open().adminKubeconfig, args);

  beforeAll(async () => {
    grants = grantsOn(open().adminKubeconfig);
    await ensureNamespace(grants.client, GRANTS_NAMESPACE);
  });
  afterAll(() => grants.close());

  it('gives kubectl all rights: on resources, Secrets and non-resource URLs', async () => {
    const grant = await grants.issue();
    const { kubeconfig } = grant;
    const namespaces = await kubectl(kubeconfig, ['get', 'namespaces', '-o', 'name']);
    expect(namespaces.stdout.split('\n')).toContain('namespace/kube-system');
    const secret = `secret-${randomUUID()}`;
    await kubectl(kubeconfig, ['create', 'secret', 'generic', secret, '--from-literal=a=b']);
    const read = await kubectl(kubeconfig, ['get', 'secret', secret, '-o', 'jsonpath={.data.a}']);
    expect(read).toMatchObject({ status: 0, stdout: 'Yg==' });
    // Not by `get --raw`: before Kubernetes 1.33 it forgets the path of the server, and a sandbox has one.
    const asked = await kubectl(kubeconfig, ['auth', 'can-i', 'get', '/metrics']);
    expect(asked).toMatchObject({ status: 0, stdout: 'yes\n' });
    expect(await grants.statusOf(grant, '/metrics')).toBe(200);
  });

  it('is used by a client library that is not ours', async () => {
    const { kubeconfig } = await grants.issue();
    const config = new KubeConfig();
    config.loadFromString(kubeconfig);
    const { items } = await config.makeApiClient(CoreV1Api).listNamespace();
    expect(items.map(({ metadata }) => metadata?.name)).toContain('kube-system');
  });

  it.each(['123', 'true', '1e5', '-', 'null'])(
    'serves kubectl under the name %s, which YAML could misread',
    async (name) => {
      const { issued } = await grants.issue();
      const { credential: _, ...address } = grants.client.access;
      const kubeconfig = renderKubeconfig({ name, ...address, token: issued.token });
      const context = await kubectl(kubeconfig, ['config', 'current-context']);
      expect(context.stdout).toBe(`${name}\n`);
      const result = await kubectl(kubeconfig, ['get', 'namespace', 'default', '-o', 'name']);
      expect(result).toMatchObject({ status: 0, stdout: 'namespace/default\n' });
    },
  );

  it('expires when its token does, as long after its issue as was asked', async () => {
    const { issued } = await grants.issue({ expirationSeconds: 1_234 });
    const { exp, iat } = claimsOf(issued.token.reveal());
    expect(issued.expiresAt).toEqual(new Date(exp * 1000));
    expect(exp - iat).toBe(1_234);
  });

  it('carries labels, a mark and plain ids on each of its objects', async () => {
    const { order, issued } = await grants.issue({ bindingId: 'Binding/ü 1' });
    const seen = await Promise.all(
      [['serviceaccount', '-n', order.namespace], ['clusterrole'], ['clusterrolebinding']].map(
        ([kind = '', ...where]) => admin(['get', kind, order.name, ...where, '-o', 'json']),
      ),
    );
    const objects = seen.map(({ stdout }) => JSON.parse(stdout) as { metadata: object });
    for (const { metadata } of objects) {
      expect(metadata).toMatchObject({
        labels: {
          'app.kubernetes.io/managed-by': 'runtime-broker',
          'runtime-broker/installation': order.installation,
        },
        annotations: {
          'runtime-broker/mark': order.mark,
          'runtime-broker/binding-id': 'Binding/ü 1',
          'runtime-broker/instance-id': order.instanceId,
        },
      });
    }
    const { account, role, roleBinding } = issued.uids;
    expect(objects.map(({ metadata }) => metadata)).toMatchObject([
      { uid: account },
      { uid: role },
      { uid: roleBinding },
    ]);
  });

  it.each([
    ['ServiceAccount', ['create', 'serviceaccount', '-n', GRANTS_NAMESPACE]],
    ['ClusterRole', ['create', 'clusterrole', '--verb=get', '--resource=pods']],
    ['ClusterRoleBinding', ['create', 'clusterrolebinding', '--clusterrole=view', '--user=x']],
  ])(
    'is not issued over a %s of its name, which is neither adopted nor deleted',
    async (kind, create) => {
      const order = grants.newOrder();
      const { name, namespace } = order;
      const read = ['get', kind, name, '-n', namespace, '-o', 'jsonpath={.metadata.uid}'];
      await admin([...create, name]);
      const { stdout: uid } = await admin(read);
      await expect(issueGrant(grants.client, order)).rejects.toMatchObject({ reason: 'conflict' });

      const undone = await revokeGrant(grants.client, { name, namespace }, grants.tools);
      expect(undone).toEqual({ proof: 'objects-gone', untouched: [{ kind, name, uid }] });
      expect((await admin(read)).stdout).toBe(uid);
      expect(await objectsNamed(name)).toEqual([`${kind.toLowerCase()}/${name}`]);
    },
  );

  it('is not issued into a namespace that is missing, and leaves nothing behind', async () => {
    const order = grants.newOrder({ namespace: 'no-such-namespace' });
    const failure: unknown = await issueGrant(grants.client, order).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(NamespaceMissingError);
    expect(failure).toMatchObject({ reason: 'not-found', action: 'create serviceaccounts' });
    await revokeGrant(
      grants.client,
      { name: order.name, namespace: order.namespace },
      grants.tools,
    );
    expect(await objectsNamed(order.name)).toEqual([]);
  });

  it('is not issued for a lifetime that Kubernetes does not know, and says why', async () => {
    const order = grants.newOrder({ expirationSeconds: 599 });
    const failure: unknown = await issueGrant(grants.client, order).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(UpstreamError);
    expect(failure).toMatchObject({ reason: 'invalid', action: 'create serviceaccounts/token' });
    expect(String(failure)).toContain('may not specify a duration less than 10 minutes');
    await revokeGrant(
      grants.client,
      { name: order.name, namespace: order.namespace },
      grants.tools,
    );
    expect(await objectsNamed(order.name)).toEqual([]);
  });

  it('ends with its caller, and nothing of it is in flight then', async () => {
    const order = grants.newOrder({ signal: AbortSignal.abort() });
    await expect(issueGrant(grants.client, order)).rejects.toMatchObject({ reason: 'cancelled' });
    expect(await objectsNamed(order.name)).toEqual([]);
  });

  /** Everything that a grant of this name could have made, as `kind/name`. */
  async function objectsNamed(name: string): Promise<readonly string[]> {
    const kinds = ['serviceaccount', 'clusterrole', 'clusterrolebinding'];
    const all = await Promise.all(
      kinds.map((kind) =>
        admin(['get', kind, '-A', `--field-selector=metadata.name=${name}`, '-o', 'name']),
      ),
    );
    return all
      .flatMap(({ stdout }) => stdout.split('\n'))
      .filter((line) => line !== '')
      .map((line) => line.replace('.rbac.authorization.k8s.io', ''));
  }
});

function claimsOf(token: string): { exp: number; iat: number } {
  const [, payload = ''] = token.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as {
    exp: number;
    iat: number;
  };
}
