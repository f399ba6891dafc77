// RBAC of a sandbox cluster, where it is more than the comparison with a real API server shows: controllers run here.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type RawAnswer, type RawClient, rawClient } from '../../support/raw-requests.ts';
import { startTestSandbox, type TestCluster, type TestSandbox } from '../../support/sandbox.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const RBAC_GROUP = 'rbac.authorization.k8s.io';

describe('rights in a sandbox cluster', () => {
  let sandbox: TestSandbox;
  let cluster: TestCluster;
  let admin: RawClient;
  let users = 0;

  beforeAll(async () => {
    sandbox = await startTestSandbox({ controllers: true });
    cluster = sandbox.openCluster('a');
    admin = rawClient(cluster.adminKubeconfig);
  });
  afterAll(() => sandbox.stop());

  async function post(client: RawClient, path: string, body: object): Promise<RawAnswer> {
    return client({ method: 'POST', path, body });
  }

  /** A user who has the rules in the whole cluster. */
  async function userWith(rules: readonly object[]): Promise<RawClient> {
    users += 1;
    const name = `user-${users}`;
    await post(admin, `${RBAC}/clusterroles`, { metadata: { name }, rules });
    await post(admin, `${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', name }],
    });
    return rawClient(await cluster.kubeconfigFor({ commonName: name }));
  }

  const statusOf = async (client: RawClient, path: string, method = 'GET'): Promise<number> =>
    (await client({ method, path })).status;

  it('are those of a rule: group, resource, verb and name', async () => {
    const user = await userWith([
      { apiGroups: ['apps'], resources: ['*'], verbs: ['list'] },
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'], verbs: ['*'] },
      { apiGroups: ['*'], resources: ['*/status'], verbs: ['get'] },
      { nonResourceURLs: ['/metrics', '/openid/*'], verbs: ['get'] },
    ]);
    expect(await statusOf(user, '/apis/apps/v1/deployments')).toBe(200);
    expect(await statusOf(user, '/apis/apps/v1/namespaces/default/deployments/x')).toBe(403);
    expect(await statusOf(user, '/apis/batch/v1/jobs')).toBe(403);
    expect(await statusOf(user, '/api/v1/namespaces/default/secrets/mine')).toBe(404);
    expect(await statusOf(user, '/api/v1/namespaces/default/secrets/other')).toBe(403);
    expect(await statusOf(user, '/api/v1/namespaces/default/secrets')).toBe(403);
    const selected = '/api/v1/namespaces/default/secrets?fieldSelector=metadata.name%3Dmine';
    expect(await statusOf(user, selected)).toBe(200);
    expect(await statusOf(user, '/api/v1/namespaces/default/pods/x/status')).toBe(404);
    expect(await statusOf(user, '/api/v1/namespaces/default/pods/x')).toBe(403);
    expect(await statusOf(user, '/metrics')).toBe(200);
    expect(await statusOf(user, '/openid/v1/jwks')).toBe(200);
    expect(await statusOf(user, '/')).toBe(403);
  });

  it('in a namespace end there', async () => {
    users += 1;
    const name = `user-${users}`;
    await post(admin, `${RBAC}/namespaces/default/rolebindings`, {
      metadata: { name },
      roleRef: { kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'Group', name }],
    });
    const user = rawClient(await cluster.kubeconfigFor({ commonName: 'x', organizations: [name] }));
    expect(await statusOf(user, '/api/v1/namespaces/default/pods')).toBe(200);
    expect(await statusOf(user, '/api/v1/namespaces/kube-system/pods')).toBe(403);
    expect(await statusOf(user, '/api/v1/pods')).toBe(403);
    expect(await statusOf(user, '/api/v1/namespaces/default')).toBe(200);
    expect(await statusOf(user, '/api/v1/namespaces')).toBe(403);
  });

  it('come with the role, also where the binding was there before', async () => {
    users += 1;
    const name = `user-${users}`;
    await post(admin, `${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', name }],
    });
    const user = rawClient(await cluster.kubeconfigFor({ commonName: name }));
    expect(await statusOf(user, '/api/v1/pods')).toBe(403);
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }];
    await post(admin, `${RBAC}/clusterroles`, { metadata: { name }, rules });
    expect(await statusOf(user, '/api/v1/pods')).toBe(200);
    await admin({ method: 'DELETE', path: `${RBAC}/clusterroles/${name}` });
    expect(await statusOf(user, '/api/v1/pods')).toBe(403);
  });

  it('are collected by labels, over roles that collect themselves', async () => {
    const rule = { apiGroups: ['example.com'], resources: ['things'], verbs: ['get'] };
    await post(admin, `${RBAC}/clusterroles`, {
      metadata: { name: 'things', labels: { [`${RBAC_GROUP}/aggregate-to-view`]: 'true' } },
      rules: [rule],
    });
    const rulesOf = async (role: string): Promise<unknown> => {
      const { text } = await admin({ method: 'GET', path: `${RBAC}/clusterroles/${role}` });
      return (JSON.parse(text) as { rules: unknown }).rules;
    };
    for (const role of ['view', 'edit', 'admin']) expect(await rulesOf(role)).toContainEqual(rule);
    await admin({ method: 'DELETE', path: `${RBAC}/clusterroles/things` });
    for (const role of ['view', 'edit', 'admin']) {
      expect(await rulesOf(role)).not.toContainEqual(rule);
    }
  });

  it('cannot be given by who has them not, unless he may bind and escalate', async () => {
    const write = { apiGroups: [RBAC_GROUP], resources: ['clusterroles', 'clusterrolebindings'] };
    const pods = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] };
    const weak = await userWith([{ ...write, verbs: ['create', 'patch'] }, pods]);
    const strong = await userWith([{ ...write, verbs: ['create', 'bind', 'escalate'] }]);
    const role = (name: string, rules: readonly object[]): object => ({
      metadata: { name },
      rules,
    });
    const binding = (name: string): object => ({
      metadata: { name },
      roleRef: { kind: 'ClusterRole', name: 'cluster-admin' },
    });
    const all = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    const path = `${RBAC}/clusterroles`;
    expect((await post(weak, path, role('w1', [{ ...pods, verbs: ['get'] }]))).status).toBe(201);
    const refused = await post(weak, path, role('w2', all));
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('is attempting to grant RBAC permissions not currently held');
    const widen = { method: 'PATCH', path: `${path}/w1`, body: { rules: all } };
    const contentType = 'application/merge-patch+json';
    expect((await weak({ ...widen, contentType })).status).toBe(403);
    expect((await post(weak, path, { metadata: { name: 'w3' }, aggregationRule: {} })).status).toBe(
      403,
    );
    expect((await post(weak, `${RBAC}/clusterrolebindings`, binding('w4'))).status).toBe(403);
    expect((await post(strong, path, role('s1', all))).status).toBe(201);
    expect((await post(strong, `${RBAC}/clusterrolebindings`, binding('s2'))).status).toBe(201);
  });

  it('of others cannot be borrowed', async () => {
    const user = await userWith([{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]);
    expect(await statusOf(user, '/api/v1/pods')).toBe(200);
    // No client of ours sends it; it must not be taken for the caller's own request.
    const response = await fetchAs(cluster, { 'Impersonate-User': 'system:admin' });
    expect(response).toBe(403);
  });
});

async function fetchAs(
  cluster: TestCluster,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const { Agent, request } = await import('undici');
  const dispatcher = new Agent({ connect: { ca: cluster.ca } });
  const { statusCode, body } = await request(`${cluster.server}/api/v1/pods`, {
    dispatcher,
    headers: { authorization: `Bearer ${cluster.adminToken}`, ...headers },
  });
  await body.dump();
  await dispatcher.close();
  return statusCode;
}
