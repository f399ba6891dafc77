// Where the objects of RBAC lie.

import type { Resource } from '../api/resource.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

export const CLUSTER_ROLES = `${RBAC_GROUP}/clusterroles`;
export const CLUSTER_ROLE_BINDINGS = `${RBAC_GROUP}/clusterrolebindings`;
export const ROLES = `${RBAC_GROUP}/roles`;
export const ROLE_BINDINGS = `${RBAC_GROUP}/rolebindings`;

/** `clusterroles.rbac.authorization.k8s.io`. */
export function qualifiedResource({ group, plural }: Resource): string {
  return group === '' ? plural : `${plural}.${group}`;
}
