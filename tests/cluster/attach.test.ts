// Attaching a cluster: which one it is, whether the access has the rights that grants will need, and their namespace.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';

import { readClusterUid } from '../../src/kubernetes/cluster-identity.ts';
import { ClusterClient } from '../../src/kubernetes/cluster-client.ts';
import { missingRights } from '../../src/kubernetes/missing-rights.ts';
import { ensureNamespace, NamespaceMissingError } from '../../src/kubernetes/namespace.ts';
import { readKubeconfig } from '../../src/kubernetes/read-kubeconfig.ts';
import { revokeGrant } from '../../src/kubernetes/revoke-grant.ts';
import { describeOnClusters } from '../support/clusters-under-test.ts';
import { GRANTS_NAMESPACE, grantsOn } from '../support/grants.ts';
import { kubectl } from '../support/kubectl.ts';

/** Rights that were just given are known a moment later; on a busy machine to ask for all of them takes a second. */
const PATIENCE = { timeout: 10_000 };

describeOnClusters('attaching a cluster', (open) => {
  let client: ClusterClient;

  beforeAll(() => {
    client = new ClusterClient(readKubeconfig(open().adminKubeconfig));
  });
  afterAll(() => client.close());

  async function asAdmin(args: readonly string[], input = ''): Promise<string> {
    const { status, stdout, stderr } = await kubectl(open().adminKubeconfig, args, { input });
    if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** A kubeconfig for a user who has these rights and no others. */
  async function withRights(rules: readonly object[]): Promise<string> {
    const commonName = `user-${randomUUID()}`;
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: commonName },
      rules,
    };
    await asAdmin(['create', '-f', '-'], JSON.stringify(role));
    await asAdmin([
      'create',
      'clusterrolebinding',
      commonName,
      `--clusterrole=${commonName}`,
      `--user=${commonName}`,
    ]);
    return open().kubeconfigFor({ commonName });
  }

  async function missingFor(
    kubeconfig: string,
    namespace = GRANTS_NAMESPACE,
  ): Promise<readonly string[]> {
    const restricted = new ClusterClient(readKubeconfig(kubeconfig));
    onTestFinished(() => restricted.close());
    return missingRights(restricted, { namespace });
  }

  it('knows it by the uid of its namespace kube-system', async () => {
    const uid = await asAdmin([
      'get',
      'namespace',
      'kube-system',
      '-o',
      'jsonpath={.metadata.uid}',
    ]);
    expect(await readClusterUid(client)).toBe(uid);
  });

  it('reaches the current context of a kubeconfig, not the first', async () => {
    const file = parse(open().adminKubeconfig) as Record<
      'clusters' | 'contexts' | 'users',
      object[]
    >;
    file.clusters.unshift({ name: 'a', cluster: { server: 'https://127.0.0.1:1' } });
    file.contexts.unshift({ name: 'a', context: { cluster: 'a', user: 'a' } });
    file.users.unshift({ name: 'a', user: { exec: { command: 'false' } } });
    const other = new ClusterClient(readKubeconfig(stringify(file)));
    onTestFinished(() => other.close());
    expect(await readClusterUid(other)).toBe(await readClusterUid(client));
  });

  it('misses nothing with all rights', async () => {
    expect(await missingRights(client, { namespace: GRANTS_NAMESPACE })).toEqual([]);
  });

  it('names every right that is missing', async () => {
    expect(await missingFor(await open().kubeconfigFor({ commonName: 'nobody' }))).toEqual([
      'get namespaces',
      'create serviceaccounts in namespace grants-of-tests',
      'get serviceaccounts in namespace grants-of-tests',
      'list serviceaccounts in namespace grants-of-tests',
      'patch serviceaccounts in namespace grants-of-tests',
      'delete serviceaccounts in namespace grants-of-tests',
      'create serviceaccounts/token in namespace grants-of-tests',
      'create clusterroles',
      'get clusterroles',
      'list clusterroles',
      'patch clusterroles',
      'delete clusterroles',
      'bind clusterroles',
      'escalate clusterroles',
      'create clusterrolebindings',
      'get clusterrolebindings',
      'list clusterrolebindings',
      'patch clusterrolebindings',
      'delete clusterrolebindings',
    ]);
  });

  const ENOUGH = [
    { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'create'] },
    {
      apiGroups: [''],
      resources: ['serviceaccounts'],
      verbs: ['create', 'get', 'list', 'patch', 'delete'],
    },
    { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
    {
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['clusterroles'],
      verbs: ['create', 'get', 'list', 'patch', 'delete', 'bind', 'escalate'],
    },
    {
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['clusterrolebindings'],
      verbs: ['create', 'get', 'list', 'patch', 'delete'],
    },
  ];

  it('needs no more rights than it asks for, to issue a grant and to revoke it', async () => {
    const kubeconfig = await withRights(ENOUGH);
    await expect.poll(() => missingFor(kubeconfig), PATIENCE).toEqual([]);
    const grants = grantsOn(kubeconfig);
    onTestFinished(() => grants.close());
    await ensureNamespace(grants.client, GRANTS_NAMESPACE);
    const grant = await grants.issue();
    expect(await grants.statusOf(grant, '/metrics')).toBe(200);
    const finalizers = '{"metadata":{"finalizers":["example.com/mine"]}}';
    for (const kind of ['clusterrole', 'clusterrolebinding']) {
      await asAdmin(['patch', kind, grant.order.name, '--type=merge', '-p', finalizers]);
    }
    expect(await revokeGrant(grants.client, grant.target, grants.tools)).toEqual({
      proof: 'refused',
      untouched: [],
    });
  });

  it('names the one right that is missing', async () => {
    const rules = ENOUGH.map((rule) => ({
      ...rule,
      verbs: rule.verbs.filter((verb) => verb !== 'escalate'),
    }));
    const kubeconfig = await withRights(rules);
    await expect.poll(() => missingFor(kubeconfig), PATIENCE).toEqual(['escalate clusterroles']);
  });

  it('needs to create namespaces only as long as the one of the grants is missing', async () => {
    const kubeconfig = await withRights(
      ENOUGH.map((rule) =>
        rule.resources.includes('namespaces') ? { ...rule, verbs: ['get'] } : rule,
      ),
    );
    const name = `prepared-${randomUUID()}`;
    await expect.poll(() => missingFor(kubeconfig, name), PATIENCE).toEqual(['create namespaces']);
    await ensureNamespace(client, name);
    expect(await missingFor(kubeconfig, name)).toEqual([]);
  });

  it('makes the namespace of its grants where it is missing, once', async () => {
    const name = `made-${randomUUID()}`;
    await Promise.all([ensureNamespace(client, name), ensureNamespace(client, name)]);
    const uid = await asAdmin(['get', 'namespace', name, '-o', 'jsonpath={.metadata.uid}']);
    await ensureNamespace(client, name);
    expect(await asAdmin(['get', 'namespace', name, '-o', 'jsonpath={.metadata.uid}'])).toBe(uid);
  });

  it('does not take a namespace that is being deleted for one that is there', async () => {
    const name = `going-${randomUUID()}`;
    await ensureNamespace(client, name);
    await asAdmin(['delete', 'namespace', name, '--wait=false']);
    await expect(ensureNamespace(client, name)).rejects.toThrow(NamespaceMissingError);
  });
});
