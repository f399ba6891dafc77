// Takes a grant's rights away.
import type { Secret } from '../domain/secret.ts';
import type { ClusterClient } from './cluster-client.ts';
import type { MarkedObject } from './grant-mark.ts';
import type { GrantUids } from './grant-objects.ts';

export interface RevocationTarget {
  readonly name: string;
  readonly namespace: string;
  /** As recorded at issue; without them nobody has the token, and what has the name and a valid mark is ours. */
  readonly uids?: GrantUids;
  /** Unexpired; where there is none, nobody can be asked. */
  readonly token?: Secret;
}

export interface RevocationTools {
  /** Whether the object carries a valid mark of this installation; asked only where no uids are recorded. */
  readonly isMarked: (object: MarkedObject) => boolean;
  readonly sleep: (delayMs: number, signal?: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal;
}

export interface ForeignObject {
  readonly kind: 'ServiceAccount' | 'ClusterRole' | 'ClusterRoleBinding';
  readonly name: string;
  readonly uid: string;
}

export interface Revocation {
  /** `refused`: the token was asked with, and got 401 or 403. `objects-gone`: there was no token to ask with. */
  readonly proof: 'refused' | 'objects-gone';
  /** What has the grant's name but is not ours: never touched, counts as gone. */
  readonly untouched: readonly ForeignObject[];
}

export async function revokeGrant(
  client: ClusterClient,
  target: RevocationTarget,
  tools: RevocationTools,
): Promise<Revocation> {
  throw new Error(`not built yet: ${client} ${target.name} ${tools}`);
}
