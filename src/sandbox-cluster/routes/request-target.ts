// What a request is about, by its method and path, as kube-apiserver reads them: what RBAC decides on.

import { nameSelected } from '../objects/selectors.ts';

export interface ResourceTarget {
  readonly kind: 'resource';
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural. */
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  /** Of a collection, the one that its field selector names. */
  readonly name: string | undefined;
  /** Whether the path ends at a collection. */
  readonly isCollection: boolean;
  /** Whether the path leads through a namespace. */
  readonly isInNamespace: boolean;
}

export interface PathTarget {
  readonly kind: 'path';
  readonly verb: string;
  readonly path: string;
}

export type RequestTarget = ResourceTarget | PathTarget;

/** Below the cluster's own path. Throws a URIError where a part is no percent-encoded UTF-8. */
export function readTarget(method: string, path: string, query: URLSearchParams): RequestTarget {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const place = placeOf(parts);
  if (place === undefined) return { kind: 'path', verb: method.toLowerCase(), path };
  const selected = nameSelected(query.get('fieldSelector') ?? '');
  const { isCollection } = place;
  const verb = verbOf(method, { isCollection, isWatch: isTrue(query.get('watch')) });
  const isRead = verb === 'list' || verb === 'watch' || verb === 'deletecollection';
  return { kind: 'resource', verb, ...place, name: place.name ?? (isRead ? selected : undefined) };
}

function isTrue(value: string | null): boolean {
  return value === 'true' || value === '1' || value === '';
}

type PlaceOfTarget = Omit<ResourceTarget, 'kind' | 'verb'>;

function placeOf(parts: readonly string[]): PlaceOfTarget | undefined {
  const [root, ...below] = parts;
  if (root !== 'api' && root !== 'apis') return undefined;
  const [group, version, ...rest] = root === 'api' ? ['', ...below] : below;
  if (group === undefined || version === undefined || rest.length === 0) return undefined;
  return { group, version, ...namedPlace(rest) };
}

function namedPlace(rest: readonly string[]): Omit<PlaceOfTarget, 'group' | 'version'> {
  const [first = '', second, third, ...more] = rest;
  const isOfNamespace = third === undefined || ['status', 'finalize'].includes(third);
  if (first === 'namespaces' && second !== undefined && !isOfNamespace) {
    const [name, subresource] = more;
    return {
      resource: third,
      namespace: second,
      name,
      subresource,
      isCollection: name === undefined,
      isInNamespace: true,
    };
  }
  return {
    resource: first,
    // Rights in a namespace count for the namespace itself.
    namespace: first === 'namespaces' ? second : undefined,
    name: second,
    subresource: third,
    isCollection: second === undefined,
    isInNamespace: false,
  };
}

function verbOf(
  method: string,
  { isCollection, isWatch }: { readonly isCollection: boolean; readonly isWatch: boolean },
): string {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return isCollection ? 'deletecollection' : 'delete';
    case 'GET':
      if (!isCollection) return isWatch ? 'watch' : 'get';
      return isWatch ? 'watch' : 'list';
    default:
      return method.toLowerCase();
  }
}
