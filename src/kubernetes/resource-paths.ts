// Paths of the API server's resources. Names go in percent-encoded, so that none of them can leave its place.

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

export const NAMESPACES_PATH = '/api/v1/namespaces';

export function namespacePath(name: string): string {
  return objectPath(NAMESPACES_PATH, name);
}

/** Of all namespaces. */
export const SERVICE_ACCOUNTS_PATH = '/api/v1/serviceaccounts';

export function serviceAccountsPath(namespace: string): string {
  return `${namespacePath(namespace)}/serviceaccounts`;
}

export const CLUSTER_ROLES_PATH = `${RBAC}/clusterroles`;
export const CLUSTER_ROLE_BINDINGS_PATH = `${RBAC}/clusterrolebindings`;

/** One object of a collection. */
export function objectPath(collection: string, name: string): string {
  return `${collection}/${encodeURIComponent(name)}`;
}
