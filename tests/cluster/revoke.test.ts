// Revoking a grant: the token is refused, whatever its holder did with the rights that it had.

import { afterAll, beforeAll, it } from 'vitest';

import { StillHonouredError } from '../../src/kubernetes/ask-with-token.ts';
import { ClusterClient } from '../../src/kubernetes/cluster-client.ts';
import { ensureNamespace } from '../../src/kubernetes/namespace.ts';
import { readKubeconfig } from '../../src/kubernetes/read-kubeconfig.ts';
import { revokeGrant } from '../../src/kubernetes/revoke-grant.ts';
import { issueGrant } from '../../src/kubernetes/token-request-issuer.ts';
import { describeOnClusters } from '../support/clusters-under-test.ts';
import { type Grant, GRANTS_NAMESPACE, type Grants, grantsOn } from '../support/grants.ts';
import { kubectl } from '../support/kubectl.ts';
import { until } from '../support/until.ts';

/** The API server caches an authentication for 10 s. */
const REFUSED_AS_UNKNOWN = { timeout: 15_000, interval: 250 };

const KINDS_OF_OBJECTS = ['ServiceAccount', 'ClusterRoleBinding'];

const KINDS = ['serviceaccount', 'clusterrole', 'clusterrolebinding'] as const;

describeOnClusters('a revoked grant', (open) => {
  let grants: Grants;

  beforeAll(async () => {
    grants = grantsOn(open().adminKubeconfig);
    await ensureNamespace(grants.client, GRANTS_NAMESPACE);
  });
  afterAll(() => grants.close());

  /** Succeeds, or says what kubectl said. */
  async function succeed(kubeconfig: string, args: readonly string[], input = ''): Promise<string> {
    const { status, stdout, stderr } = await kubectl(kubeconfig, args, { input });
    if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  }
  const asAdmin = (args: readonly string[], input?: string): Promise<string> =>
    succeed(open().adminKubeconfig, args, input);

  const uidOf = (kind: string, { order }: Grant): Promise<string> =>
    asAdmin(
      `get ${kind} ${order.name} -n ${order.namespace} --ignore-not-found -o jsonpath={.metadata.uid}`.split(
        ' ',
      ),
    );
  const uidsOf = (grant: Grant): Promise<readonly string[]> =>
    Promise.all(KINDS.map((kind) => uidOf(kind, grant)));

  it.concurrent('is refused at once, and unknown to the cluster within 15 seconds', async ({
    expect,
  }) => {
    const grant = await grants.issue();
    expect(await grants.statusOf(grant)).toBe(200);
    const revocation = await revokeGrant(grants.client, grant.target, grants.tools);
    expect(revocation).toEqual({ proof: 'refused', untouched: [] });
    expect([401, 403]).toContain(await grants.statusOf(grant));
    const refused = await kubectl(grant.kubeconfig, ['get', 'namespaces']);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/Forbidden|Unauthorized/);
    expect(await uidsOf(grant)).toEqual(['', '', '']);
    await expect.poll(() => grants.statusOf(grant), REFUSED_AS_UNKNOWN).toBe(401);
  });

  it.concurrent('may be revoked again, with and without its uids and its token', async ({
    expect,
  }) => {
    const grant = await grants.issue();
    const { token: _, ...withoutToken } = grant.target;
    const { uids: _uids, ...withoutUids } = withoutToken;
    const revoke = (target: Grant['target']): Promise<unknown> =>
      revokeGrant(grants.client, target, grants.tools);
    expect(await revoke(withoutToken)).toEqual({ proof: 'objects-gone', untouched: [] });
    expect(await revoke(grant.target)).toEqual({ proof: 'refused', untouched: [] });
    expect(await revoke(withoutToken)).toEqual({ proof: 'objects-gone', untouched: [] });
    expect(await revoke(withoutUids)).toEqual({ proof: 'objects-gone', untouched: [] });
  });

  it.concurrent('is found by its marks where no uids were recorded', async ({ expect }) => {
    const grant = await grants.issue();
    const { name, namespace } = grant.order;
    const revocation = await revokeGrant(grants.client, { name, namespace }, grants.tools);
    expect(revocation).toEqual({ proof: 'objects-gone', untouched: [] });
    expect(await uidsOf(grant)).toEqual(['', '', '']);
  });

  it.concurrent('stays where no uids were recorded and its marks are not ours', async ({
    expect,
  }) => {
    const grant = await grants.issue();
    const { name, namespace } = grant.order;
    const others = grantsOn(open().adminKubeconfig);
    const { untouched } = await revokeGrant(others.client, { name, namespace }, others.tools);
    await others.close();
    expect(untouched.map(({ kind }) => kind).toSorted()).toEqual([
      'ClusterRole',
      'ClusterRoleBinding',
      'ServiceAccount',
    ]);
    const { account, role, roleBinding } = grant.issued.uids;
    expect(await uidsOf(grant)).toEqual([account, role, roleBinding]);
  });

  it.concurrent('is out though its holder put finalizers on every object', async ({ expect }) => {
    const grant = await grants.issue();
    const finalizers = '{"metadata":{"finalizers":["example.com/mine"]}}';
    for (const kind of KINDS) {
      const { name, namespace } = grant.order;
      await succeed(grant.kubeconfig, [
        'patch',
        kind,
        name,
        '-n',
        namespace,
        '--type=merge',
        '-p',
        finalizers,
      ]);
      await succeed(grant.kubeconfig, ['delete', kind, name, '-n', namespace, '--wait=false']);
    }
    // What the cluster shows as being deleted still gives all rights.
    expect(await grants.statusOf(grant)).toBe(200);
    const revocation = await revokeGrant(grants.client, grant.target, grants.tools);
    expect(revocation).toEqual({ proof: 'refused', untouched: [] });
    expect(await uidsOf(grant)).toEqual(['', '', '']);
    await expect.poll(() => grants.statusOf(grant), REFUSED_AS_UNKNOWN).toBe(401);
  });

  it.concurrent('is out though its holder writes without a pause', async ({ expect }) => {
    const grant = await grants.issue();
    const { name, namespace } = grant.order;
    const holder = new ClusterClient(readKubeconfig(grant.kubeconfig));
    const objects = [
      `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${name}`,
      `/api/v1/namespaces/${namespace}/serviceaccounts/${name}`,
    ];
    const body = {
      metadata: { finalizers: ['example.com/mine'] },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    };
    let writes = 0;
    let isOver = false;
    const fight = async (path: string): Promise<void> => {
      while (!isOver) {
        const call = {
          method: 'PATCH',
          path,
          body,
          action: 'resist',
          expect: KINDS_OF_OBJECTS,
        } as const;
        const succeeds = await holder.request(call).then(
          () => true,
          () => false,
        );
        if (succeeds) writes += 1;
      }
    };
    const fights = [...objects, ...objects].map(fight);
    await expect.poll(() => writes, REFUSED_AS_UNKNOWN).toBeGreaterThan(10);
    const revocation = await revokeGrant(grants.client, grant.target, grants.tools);
    isOver = true;
    await Promise.all(fights);
    await holder.close();
    expect(revocation).toEqual({ proof: 'refused', untouched: [] });
    expect(await uidsOf(grant)).toEqual(['', '', '']);
  });

  it.concurrent('is out though its holder took all labels and marks away', async ({ expect }) => {
    const grant = await grants.issue();
    const bare = '{"metadata":{"labels":null,"annotations":null}}';
    for (const kind of KINDS) {
      const { name, namespace } = grant.order;
      await succeed(grant.kubeconfig, [
        'patch',
        kind,
        name,
        '-n',
        namespace,
        '--type=merge',
        '-p',
        bare,
      ]);
    }
    const revocation = await revokeGrant(grants.client, grant.target, grants.tools);
    expect(revocation).toEqual({ proof: 'refused', untouched: [] });
    expect(await uidsOf(grant)).toEqual(['', '', '']);
  });

  it.concurrent('is out though its holder made a role binding of its own, once the cluster forgets its account', async ({
    expect,
  }) => {
    const grant = await grants.issue();
    const { name, namespace } = grant.order;
    const own = `own-${name}`;
    await succeed(
      grant.kubeconfig,
      `create clusterrolebinding ${own} --clusterrole=cluster-admin --serviceaccount=${namespace}:${name}`.split(
        ' ',
      ),
    );
    const hurried = { ...grants.tools, sleep: () => Promise.resolve() };
    const early: unknown = await revokeGrant(grants.client, grant.target, hurried).catch(
      (error: unknown) => error,
    );
    expect(early).toBeInstanceOf(StillHonouredError);
    expect(early).toMatchObject({ retryable: true });
    const revocation = await revokeGrant(grants.client, grant.target, grants.tools);
    expect(revocation.proof).toBe('refused');
    // Not ours, so not touched.
    expect(await asAdmin(['delete', 'clusterrolebinding', own])).toContain('deleted');
  });

  it.concurrent('leaves what has taken the place of its objects, which counts as gone', async ({
    expect,
  }) => {
    const grant = await grants.issue();
    const { name, namespace } = grant.order;
    const before = await uidsOf(grant);
    await asAdmin(['delete', 'clusterrole', name]);
    await asAdmin(['create', 'clusterrole', name, '--verb=get', '--resource=pods']);
    await asAdmin(['delete', 'serviceaccount', name, '-n', namespace]);
    await asAdmin(['create', 'serviceaccount', name, '-n', namespace]);
    const [account = '', role = ''] = await uidsOf(grant);
    expect(before).not.toContain(account);
    expect(before).not.toContain(role);

    const { untouched } = await revokeGrant(grants.client, grant.target, grants.tools);
    expect(untouched).toHaveLength(2);
    expect(untouched).toContainEqual({ kind: 'ServiceAccount', name, uid: account });
    expect(untouched).toContainEqual({ kind: 'ClusterRole', name, uid: role });
    expect(await uidsOf(grant)).toEqual([account, role, '']);
  });

  it.concurrent('is unknown to the cluster even where its holder forbids to touch its role binding', async ({
    expect,
  }) => {
    const grant = await grants.issue();
    const { name } = grant.order;
    await succeed(grant.kubeconfig, ['apply', '-f', '-'], policyThatKeeps(name));
    const dryRun = ['delete', 'clusterrolebinding', name, '--dry-run=server'];
    const refusal = async (): Promise<string> =>
      (await kubectl(open().adminKubeconfig, dryRun)).stderr;
    await expect.poll(refusal, REFUSED_AS_UNKNOWN).toContain('ValidatingAdmissionPolicy');

    const revoke = (): Promise<unknown> => revokeGrant(grants.client, grant.target, grants.tools);
    await expect(revoke()).rejects.toMatchObject({ system: 'cluster', status: 422 });
    await expect.poll(() => grants.statusOf(grant), REFUSED_AS_UNKNOWN).toBe(401);
    expect(await uidsOf(grant)).toEqual(['', '', grant.issued.uids.roleBinding]);

    await asAdmin(['delete', 'validatingadmissionpolicybinding,validatingadmissionpolicy', name]);
    await expect.poll(refusal, REFUSED_AS_UNKNOWN).toBe('');
    expect(await revoke()).toEqual({ proof: 'refused', untouched: [] });
    expect(await uidsOf(grant)).toEqual(['', '', '']);
  });

  it.concurrent('can be revoked in the middle of an issue that failed', async ({ expect }) => {
    const order = grants.newOrder({ expirationSeconds: 1 });
    await expect(issueGrant(grants.client, order)).rejects.toMatchObject({ reason: 'invalid' });
    const { name, namespace } = order;
    await revokeGrant(grants.client, { name, namespace }, grants.tools);
    const left = await asAdmin([
      'get',
      'serviceaccount,clusterrole,clusterrolebinding',
      '-A',
      '-o',
      'name',
    ]);
    expect(left).not.toContain(name);
  });

  it.concurrent('ends with its caller', async ({ expect }) => {
    const grant = await grants.issue();
    const tools = { ...grants.tools, signal: AbortSignal.abort() };
    await expect(revokeGrant(grants.client, grant.target, tools)).rejects.toMatchObject({
      reason: 'cancelled',
    });
    // The API server may not have seen its role binding yet.
    await until({
      what: 'it works still',
      limitMs: 10_000,
      isSo: async () => (await grants.statusOf(grant)) === 200,
    });
  });
});

/** What an administrator can do against other administrators: nobody may change or delete that role binding. */
function policyThatKeeps(name: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name },
        spec: {
          matchConstraints: {
            resourceRules: [
              {
                apiGroups: ['rbac.authorization.k8s.io'],
                apiVersions: ['v1'],
                operations: ['UPDATE', 'DELETE'],
                resources: ['clusterrolebindings'],
                resourceNames: [name],
              },
            ],
          },
          validations: [{ expression: 'false' }],
        },
      },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name },
        spec: { policyName: name, validationActions: ['Deny'] },
      },
    ],
  });
}
