// What lies on a cluster under the labels of an installation, page by page. The cluster's administrators write labels
// as they like, and may run its API server: nothing here takes more memory than one answer may have, and what a page
// says proves nothing. Whether an object is ours is left to its mark and to the ledger.

import { hasReason } from './failures.ts';
import { labelsOf } from './grant-objects.ts';
import type { GrantObjectKind, Reach, SeenObject } from './owned-object.ts';
import {
  CLUSTER_ROLE_BINDINGS_PATH,
  CLUSTER_ROLES_PATH,
  SERVICE_ACCOUNTS_PATH,
  serviceAccountsPath,
} from './resource-paths.ts';

export interface PageOrder {
  readonly kind: GrantObjectKind;
  readonly installation: string;
  /** Where the access may not list the accounts of all namespaces, those of this one are listed. */
  readonly namespace: string;
  /** `next` of the page before; absent: the first page. */
  readonly after?: string | undefined;
  /** The most objects that the page may have. */
  readonly limit: number;
}

/** An object as far as it says what it needs to be looked up and removed. */
export interface ListedObject {
  readonly kind: GrantObjectKind;
  readonly name: string;
  /** Of an account. */
  readonly namespace: string | undefined;
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface OwnedPage {
  readonly objects: readonly ListedObject[];
  /** Undefined on the last page. */
  readonly next: string | undefined;
  /** Below what was ordered where so many objects did not fit into one answer. */
  readonly limit: number;
}

/**
 * One page of the objects of a kind, as their metadata alone where the server offers that. A continuation that has
 * expired (after five minutes, by default) starts anew from the first page. Throws an UpstreamError.
 */
export async function listOwnedPage(reach: Reach, order: PageOrder): Promise<OwnedPage> {
  let { limit } = order;
  for (;;) {
    try {
      return await listOrStartAnew(reach, { ...order, limit });
    } catch (error) {
      // The tenant's metadata is as long as he likes: of a single object it always fits.
      if (!hasReason(error, 'malformed-answer') || limit === 1) throw error;
      limit = Math.ceil(limit / SHRINK_BY);
    }
  }
}

/** From 250 to 1 in four steps, so that a page of long objects costs few answers that are thrown away. */
const SHRINK_BY = 8;

async function listOrStartAnew(reach: Reach, order: PageOrder): Promise<OwnedPage> {
  try {
    return await listWhereAllowed(reach, order);
  } catch (error) {
    const isRefused = hasReason(error, 'unexpected-status') && error.status === GONE;
    // 400: a continuation of another list, or of another API server.
    if (order.after === undefined || !(isRefused || hasReason(error, 'invalid'))) throw error;
    return listWhereAllowed(reach, { ...order, after: undefined });
  }
}

const GONE = 410;

const COLLECTIONS: Readonly<Record<GrantObjectKind, readonly [resource: string, path: string]>> = {
  ServiceAccount: ['serviceaccounts', SERVICE_ACCOUNTS_PATH],
  ClusterRole: ['clusterroles', CLUSTER_ROLES_PATH],
  ClusterRoleBinding: ['clusterrolebindings', CLUSTER_ROLE_BINDINGS_PATH],
};

async function listWhereAllowed(reach: Reach, order: PageOrder): Promise<OwnedPage> {
  const [, path] = COLLECTIONS[order.kind];
  try {
    return await list(reach, order, path);
  } catch (error) {
    if (order.kind !== 'ServiceAccount' || !hasReason(error, 'forbidden')) throw error;
    return list(reach, order, serviceAccountsPath(order.namespace));
  }
}

interface ObjectList {
  readonly kind: string;
  readonly metadata?: { readonly continue?: unknown };
  readonly items?: unknown;
}

const METADATA_ONLY =
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

async function list(reach: Reach, order: PageOrder, path: string): Promise<OwnedPage> {
  const { kind, limit } = order;
  const query = new URLSearchParams({
    labelSelector: labelsOf(order.installation),
    limit: String(limit),
    ...(order.after === undefined ? {} : { continue: order.after }),
  });
  const object = await reach.client.request<ObjectList>({
    method: 'GET',
    path: `${path}?${query.toString()}`,
    action: `list ${COLLECTIONS[kind][0]}`,
    expect: ['PartialObjectMetadataList', `${kind}List`],
    accept: METADATA_ONLY,
    signal: reach.signal,
  });
  const items: readonly unknown[] = Array.isArray(object.items) ? object.items : [];
  return {
    objects: items.flatMap((item) => listed(kind, item as SeenObject | null)),
    next: continuationOf(object),
    limit,
  };
}

/** It is kept from one scan to the next: a server that sends anything else, or megabytes, has no next page for us. */
const CONTINUATION_FORM = /^[\x21-\x7e]{1,4096}$/;

function continuationOf({ metadata }: ObjectList): string | undefined {
  const next = metadata?.continue;
  return typeof next === 'string' && CONTINUATION_FORM.test(next) ? next : undefined;
}

function listed(kind: GrantObjectKind, object: SeenObject | null): readonly ListedObject[] {
  const { name, namespace, uid, annotations } = object?.metadata ?? {};
  const isWhole = typeof name === 'string' && typeof uid === 'string';
  if (!isWhole || (kind === 'ServiceAccount' && typeof namespace !== 'string')) return [];
  return [{ kind, name, namespace, uid, annotations: annotations ?? {} }];
}
