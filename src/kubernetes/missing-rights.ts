// Asks a cluster which of the rights that grants will need an admin access lacks. A bind then never fails for want
// of a right that could have been named when the cluster was attached.

import type { SelfSubjectAccessReview } from 'kubernetes-types/authorization/v1.d.ts';

import type { ClusterClient } from './cluster-client.ts';
import { hasReason } from './failures.ts';
import { RBAC_GROUP } from './grant-objects.ts';
import { isNamespaceMissing } from './namespace.ts';

/** Reviews in flight at a time: a few, so that attaching a cluster does not use up what others call it with. */
const REVIEWS_AT_A_TIME = 8;

interface Right {
  readonly verb: string;
  /** Empty for the core group, as in the API. */
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Absent: all namespaces, or a resource without one. */
  readonly namespace?: string;
}

interface Where {
  readonly namespace: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Readable names of the missing rights, e.g. `create serviceaccounts/token in namespace kyma-system`. To create the
 * namespace is one of them only as long as it is missing.
 */
export async function missingRights(
  client: ClusterClient,
  where: Where,
): Promise<readonly string[]> {
  const open = neededRights(where.namespace);
  const verdicts = new Map<Right, boolean>();
  const queue = open.values();
  async function work(): Promise<void> {
    for (const right of queue) verdicts.set(right, await isAllowed(client, right, where.signal));
  }
  await Promise.all(Array.from({ length: REVIEWS_AT_A_TIME }, work));
  const denied = open.filter((right) => verdicts.get(right) !== true);
  const isSpared = denied.includes(CREATE_NAMESPACES) && !(await mustCreate(client, where));
  return denied.filter((right) => !isSpared || right !== CREATE_NAMESPACES).map(readable);
}

/** Who may not look learns of `get namespaces` first: whether the other is needed is not known before. */
async function mustCreate(client: ClusterClient, { namespace, signal }: Where): Promise<boolean> {
  try {
    return await isNamespaceMissing(client, namespace, signal);
  } catch (error) {
    if (hasReason(error, 'forbidden')) return false;
    throw error;
  }
}

const CREATE_NAMESPACES: Right = { group: '', resource: 'namespaces', verb: 'create' };

function neededRights(namespace: string): readonly Right[] {
  const ofEach = (target: Omit<Right, 'verb'>, verbs: readonly string[]): readonly Right[] =>
    verbs.map((verb) => ({ ...target, verb }));
  // Emptying and deleting what was granted, and finding what was left behind.
  const lifeCycle = ['create', 'get', 'list', 'patch', 'delete'];
  const accounts = { group: '', resource: 'serviceaccounts', namespace };
  return [
    { group: '', resource: 'namespaces', verb: 'get' },
    CREATE_NAMESPACES,
    ...ofEach(accounts, lifeCycle),
    { ...accounts, verb: 'create', subresource: 'token' },
    // `escalate`: a role may give more than its maker has. `bind`: so may a role binding, before its role is there.
    ...ofEach({ group: RBAC_GROUP, resource: 'clusterroles' }, [...lifeCycle, 'bind', 'escalate']),
    ...ofEach({ group: RBAC_GROUP, resource: 'clusterrolebindings' }, lifeCycle),
  ];
}

async function isAllowed(
  client: ClusterClient,
  right: Right,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const body: SelfSubjectAccessReview = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { ...right } },
  };
  const object = await client.request<SelfSubjectAccessReview>({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body,
    action: 'create selfsubjectaccessreviews',
    expect: ['SelfSubjectAccessReview'],
    signal,
  });
  return object.status?.allowed === true;
}

function readable({ verb, resource, subresource, namespace }: Right): string {
  const target = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${target}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
}
