// Issues a grant: account, role and role binding, and a token for the account, in two round trips.
import type { Secret } from '../domain/secret.ts';
import type { ClusterClient } from './cluster-client.ts';
import type { GrantDescription, GrantUids } from './grant-objects.ts';

export interface GrantOrder extends GrantDescription {
  /** Lifetime to ask for; the cluster may grant less. */
  readonly expirationSeconds: number;
  /** Ends the issue at the create limit, or when the binding is to end meanwhile. */
  readonly signal?: AbortSignal;
}

export interface IssuedGrant {
  readonly token: Secret;
  /** As the cluster granted it. */
  readonly expiresAt: Date;
  readonly uids: GrantUids;
  /** The token's id, where the cluster gives one (Kubernetes 1.32 and later): safe to log. */
  readonly tokenId?: string;
  /** What the cluster warned of, for example a shortened lifetime. */
  readonly warnings: readonly string[];
}

export async function issueGrant(client: ClusterClient, order: GrantOrder): Promise<IssuedGrant> {
  throw new Error(`not built yet: ${client} ${order.name}`);
}
