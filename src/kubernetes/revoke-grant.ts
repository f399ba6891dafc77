// Takes a grant's rights away and proves it. The holder is an administrator and may have put finalizers on any of
// its objects, and RBAC honours what is being deleted for as long as it can be seen: so the role binding is emptied
// before anything is deleted, and what stays is cleared until it is gone. Recording the outcome is the broker's.

import type { GrantUids } from '../domain/binding.ts';
import type { Secret } from '../domain/secret.ts';
import { askUntilRefused } from './ask-with-token.ts';
import type { ClusterClient } from './cluster-client.ts';
import { flyTogether } from './fly-together.ts';
import type { MarkedObject } from './grant-mark.ts';
import {
  type ForeignObject,
  type GrantObjectPlace,
  type OwnedObject,
  placeOfObject,
  type Reach,
  readObject,
} from './owned-object.ts';
import { Removal } from './removal.ts';

export interface RevocationTarget {
  readonly name: string;
  readonly namespace: string;
  /** As recorded at issue; absent, nobody has the token, and what has the name and a valid mark is ours. */
  readonly uids?: GrantUids;
  /** Unexpired; where there is none, nobody can be asked. */
  readonly token?: Secret;
}

export interface RevocationTools {
  /** Whether an object carries a valid mark of this installation; asked only where no uids are recorded. */
  readonly isMarked: (object: MarkedObject) => boolean;
  /** Resolves after the delay, or rejects when the signal fires. */
  readonly sleep: (delayMs: number, signal?: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

export interface Revocation {
  /** `refused`: the token was asked with, and got 401 or 403. `objects-gone`: there was no token to ask with. */
  readonly proof: 'refused' | 'objects-gone';
  /** What has the grant's name but is not ours: never touched, counts as gone. */
  readonly untouched: readonly ForeignObject[];
}

/**
 * Three round trips where nobody resists: the subjects, the deletions, then reading back beside asking with the
 * token. A repeat is harmless, and what is missing already is fine; so the caller has made sure that this is the
 * cluster of the grant, since on another one all would seem gone. Throws an UpstreamError when it is not done:
 * StillHonouredError where the objects are gone but the token is not refused within 12 s.
 */
export async function revokeGrant(
  client: ClusterClient,
  target: RevocationTarget,
  tools: RevocationTools,
): Promise<Revocation> {
  const reach: Reach = { client, signal: tools.signal };
  const { owned, foreign } = await findOwned(reach, target, tools.isMarked);
  const removal = new Removal(owned);
  await removal.emptyRoleBinding(reach);
  await removal.removeRest(reach);
  const { token } = target;
  await flyTogether(tools.signal, ({ signal }) => [
    removal.confirm({ client, signal }),
    token === undefined
      ? Promise.resolve()
      : askUntilRefused({ client, signal }, { token, sleep: tools.sleep }),
  ]);
  return {
    proof: token === undefined ? 'objects-gone' : 'refused',
    untouched: [...foreign, ...removal.foreign],
  };
}

interface Found {
  readonly owned: readonly OwnedObject[];
  readonly foreign: readonly ForeignObject[];
}

async function findOwned(
  reach: Reach,
  target: RevocationTarget,
  isMarked: RevocationTools['isMarked'],
): Promise<Found> {
  const { uids } = target;
  const places = placesOf(target);
  if (uids !== undefined) {
    const owned = [
      { ...places.roleBinding, uid: uids.roleBinding },
      { ...places.account, uid: uids.account },
      { ...places.role, uid: uids.role },
    ];
    return { owned, foreign: [] };
  }
  const owned: OwnedObject[] = [];
  const foreign: ForeignObject[] = [];
  await Promise.all(
    Object.values(places).map(async (place) => {
      const seen = await readObject(reach, place);
      if (seen === undefined) return;
      const { object, uid } = seen;
      if (isMarked(object)) owned.push({ ...place, uid });
      else foreign.push({ kind: place.kind, name: place.name, uid });
    }),
  );
  return { owned, foreign };
}

function placesOf({
  name,
  namespace,
}: RevocationTarget): Readonly<Record<keyof GrantUids, GrantObjectPlace>> {
  return {
    roleBinding: placeOfObject({ kind: 'ClusterRoleBinding', name }),
    account: placeOfObject({ kind: 'ServiceAccount', name, namespace }),
    role: placeOfObject({ kind: 'ClusterRole', name }),
  };
}
