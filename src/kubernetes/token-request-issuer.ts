// Issues a grant in two round trips: the account and then a token for it, beside role and role binding. Announcing
// it before, recording it after and undoing what a failure leaves behind is the broker's.

import type { TokenRequest } from 'kubernetes-types/authentication/v1.d.ts';
import type { ServiceAccount } from 'kubernetes-types/core/v1.d.ts';
import type { ClusterRole, ClusterRoleBinding } from 'kubernetes-types/rbac/v1.d.ts';

import type { GrantUids } from '../domain/binding.ts';
import type { Clock } from '../domain/clock.ts';
import type { Secret } from '../domain/secret.ts';
import { checkClusterClock } from './cluster-clock.ts';
import type { ClusterClient } from './cluster-client.ts';
import { hasReason } from './failures.ts';
import { type Flight, flyTogether } from './fly-together.ts';
import { accountOf, type GrantDescription, roleBindingOf, roleOf } from './grant-objects.ts';
import { type GrantedToken, readGrantedToken } from './granted-token.ts';
import { NamespaceMissingError } from './namespace.ts';
import { requiredUid } from './required-uid.ts';
import {
  CLUSTER_ROLE_BINDINGS_PATH,
  CLUSTER_ROLES_PATH,
  objectPath,
  serviceAccountsPath,
} from './resource-paths.ts';

export interface GrantOrder extends GrantDescription {
  /** Lifetime to ask for; the cluster may grant less. */
  readonly expirationSeconds: number;
  /** What the cluster's own clock is compared with. */
  readonly clock: Clock;
  /** Ends the issue at the create limit, or when the binding is to end meanwhile. */
  readonly signal?: AbortSignal | undefined;
}

export interface IssuedGrant {
  readonly token: Secret;
  /** Both as the cluster granted them, by its own clock. */
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly uids: GrantUids;
  /** The token's id, where the cluster gives one (Kubernetes 1.32 and later); no secret. */
  readonly tokenId?: string;
}

/**
 * Nothing is handed out before all four calls have succeeded. On failure none of them is in flight any more, some of
 * the objects may be there, and the failure that came first is thrown: `conflict` where something of this name was
 * there before (it is not adopted), NamespaceMissingError, ClusterClockError, or what else the client throws. Not to be repeated under
 * the same name, unless the failure was `unauthorized` or `tls`.
 */
export async function issueGrant(client: ClusterClient, order: GrantOrder): Promise<IssuedGrant> {
  // The role binding does not wait for its role: whoever may `bind` need not, and that is one of the rights that an
  // attached cluster is asked for.
  const [account, role, roleBinding] = await flyTogether(order.signal, (flight) => [
    createAccountAndToken(client, order, flight),
    create(client, {
      path: CLUSTER_ROLES_PATH,
      body: roleOf(order),
      action: 'create clusterroles',
      signal: flight.signal,
    }),
    create(client, {
      path: CLUSTER_ROLE_BINDINGS_PATH,
      body: roleBindingOf(order),
      action: 'create clusterrolebindings',
      signal: flight.signal,
    }),
  ]);
  return {
    ...account.granted,
    uids: { account: account.uid, role, roleBinding },
  };
}

async function createAccountAndToken(
  client: ClusterClient,
  order: GrantOrder,
  flight: Flight,
): Promise<{ uid: string; granted: GrantedToken }> {
  const accountUid = await createAccount(client, order, flight.signal);
  if (flight.hasFailed()) throw new Error('another call of this issue has failed');
  const request: TokenRequest = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { name: order.name, namespace: order.namespace, uid: accountUid },
    spec: { audiences: [], expirationSeconds: order.expirationSeconds },
  };
  const askedAt = order.clock();
  const answer = await client.request<TokenRequest>({
    method: 'POST',
    path: `${objectPath(serviceAccountsPath(order.namespace), order.name)}/token`,
    body: request,
    action: 'create serviceaccounts/token',
    expect: ['TokenRequest'],
    signal: flight.signal,
  });
  const granted = readGrantedToken(answer, { ...order, accountUid });
  checkClusterClock({ askedAt, answeredAt: order.clock(), written: granted.issuedAt });
  return { uid: accountUid, granted };
}

async function createAccount(
  client: ClusterClient,
  order: GrantOrder,
  signal: AbortSignal,
): Promise<string> {
  const action = 'create serviceaccounts';
  const path = serviceAccountsPath(order.namespace);
  try {
    return await create(client, { path, body: accountOf(order), action, signal });
  } catch (error) {
    throw hasReason(error, 'not-found')
      ? new NamespaceMissingError(action, order.namespace)
      : error;
  }
}

type GrantObject = ServiceAccount | ClusterRole | ClusterRoleBinding;

/** @returns the uid of what was made */
async function create(
  client: ClusterClient,
  call: { path: string; body: GrantObject; action: string; signal: AbortSignal },
): Promise<string> {
  const expect = [String(call.body.kind)];
  const object = await client.request<GrantObject>({
    method: 'POST',
    ...call,
    expect,
  });
  return requiredUid(object, call.action);
}
