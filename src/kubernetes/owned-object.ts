// One object of a grant, known by its uid: cleared, deleted and looked at as that uid and no other. An object of the
// same name with another uid is foreign: it is reported, never touched, and counts as gone.

import type { ClusterClient } from './cluster-client.ts';
import { hasReason } from './failures.ts';
import type { MarkedObject } from './grant-mark.ts';
import { requiredUid } from './required-uid.ts';
import {
  CLUSTER_ROLE_BINDINGS_PATH,
  CLUSTER_ROLES_PATH,
  objectPath,
  serviceAccountsPath,
} from './resource-paths.ts';

export type GrantObjectKind = 'ServiceAccount' | 'ClusterRole' | 'ClusterRoleBinding';

/** Where an object of a grant lies. */
export interface GrantObjectPlace {
  readonly kind: GrantObjectKind;
  readonly name: string;
  /** Of the object itself. */
  readonly path: string;
  /** As in `delete serviceaccounts`. */
  readonly resource: string;
}

/** A role and a role binding lie in no namespace. */
export type ObjectAddress =
  | { readonly kind: 'ServiceAccount'; readonly name: string; readonly namespace: string }
  | { readonly kind: 'ClusterRole' | 'ClusterRoleBinding'; readonly name: string };

export function placeOfObject(address: ObjectAddress): GrantObjectPlace {
  const { kind, name } = address;
  const at = (resource: string, collection: string): GrantObjectPlace => ({
    kind,
    name,
    resource,
    path: objectPath(collection, name),
  });
  switch (kind) {
    case 'ServiceAccount':
      return at('serviceaccounts', serviceAccountsPath(address.namespace));
    case 'ClusterRole':
      return at('clusterroles', CLUSTER_ROLES_PATH);
    case 'ClusterRoleBinding':
      return at('clusterrolebindings', CLUSTER_ROLE_BINDINGS_PATH);
  }
}

export interface OwnedObject extends GrantObjectPlace {
  readonly uid: string;
}

export interface ForeignObject {
  readonly kind: GrantObjectKind;
  readonly name: string;
  readonly uid: string;
}

/** An object as the cluster shows it. */
export interface SeenObject extends MarkedObject {
  readonly kind?: string;
  readonly metadata?: MarkedObject['metadata'] & {
    readonly namespace?: string;
    readonly uid?: string;
    readonly finalizers?: readonly string[];
  };
}

/** What became of an object. `there`: as far as is known, the object of our uid is still to be seen. */
export type Sight =
  | { readonly is: 'gone' }
  | { readonly is: 'there' }
  | { readonly is: 'foreign'; readonly object: ForeignObject };

const GONE: Sight = { is: 'gone' };
const THERE: Sight = { is: 'there' };

/** The cluster and the time that a caller has for it. */
export interface Reach {
  readonly client: ClusterClient;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Undefined where nothing has that name. An answer without a uid is no object, and not one that took the place of ours:
 * an UpstreamError.
 */
export async function readObject(
  reach: Reach,
  place: GrantObjectPlace,
): Promise<{ readonly object: SeenObject; readonly uid: string } | undefined> {
  const action = `get ${place.resource}`;
  try {
    const object = await reach.client.request<SeenObject>({
      method: 'GET',
      path: place.path,
      action,
      expect: [place.kind],
      signal: reach.signal,
    });
    return { object, uid: requiredUid(object, action) };
  } catch (error) {
    if (hasReason(error, 'not-found')) return undefined;
    throw error;
  }
}

export async function lookAt(reach: Reach, owned: OwnedObject): Promise<Sight> {
  const seen = await readObject(reach, owned);
  if (seen === undefined) return GONE;
  const { uid } = seen;
  if (uid === owned.uid) return THERE;
  return { is: 'foreign', object: { kind: owned.kind, name: owned.name, uid } };
}

/**
 * Takes away the object's finalizers, and with them whatever keeps it after its deletion; of a role binding the
 * subjects too, since RBAC honours it for as long as it can be seen.
 */
export function clearObject(reach: Reach, owned: OwnedObject): Promise<Sight> {
  return asOwned(reach, owned, async () => {
    await reach.client.request<SeenObject>({
      method: 'PATCH',
      path: owned.path,
      body: {
        metadata: { uid: owned.uid, finalizers: null },
        ...(owned.kind === 'ClusterRoleBinding' ? { subjects: null } : {}),
      },
      action: `patch ${owned.resource}`,
      expect: [owned.kind],
      signal: reach.signal,
    });
    return THERE;
  });
}

/** Deletes the object; where finalizers keep it, they are taken away. `there` is to be read back. */
export function removeObject(reach: Reach, owned: OwnedObject): Promise<Sight> {
  return asOwned(reach, owned, async () => {
    const object = await reach.client.request<SeenObject>({
      method: 'DELETE',
      path: owned.path,
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: 'Background',
        preconditions: { uid: owned.uid },
      },
      action: `delete ${owned.resource}`,
      // Some resources answer with the object even when nothing is left of it.
      expect: ['Status', owned.kind],
      signal: reach.signal,
    });
    const isKept = (object.metadata?.finalizers ?? []).length > 0;
    return isKept ? clearObject(reach, owned) : THERE;
  });
}

/**
 * A uid that does not fit is answered by 409 or 422, as are refusals of other kinds: who is there then decides.
 * Ours, and 409: somebody else wrote at the same time, and the next round tries again.
 */
async function asOwned(
  reach: Reach,
  owned: OwnedObject,
  act: () => Promise<Sight>,
): Promise<Sight> {
  try {
    return await act();
  } catch (error) {
    if (hasReason(error, 'not-found')) return GONE;
    if (!hasReason(error, 'conflict') && !hasReason(error, 'invalid')) throw error;
    const sight = await lookAt(reach, owned);
    if (sight.is === 'there' && hasReason(error, 'invalid')) throw error;
    return sight;
  }
}
