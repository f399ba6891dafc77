// The objects that make up a grant, as they are sent to the cluster: an account, a role with all rights, and the
// role binding between them. All three carry one name; sending them is left to the issuer.

import type { ServiceAccount } from 'kubernetes-types/core/v1.d.ts';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import type { ClusterRole, ClusterRoleBinding } from 'kubernetes-types/rbac/v1.d.ts';

import { MARK_ANNOTATION } from './grant-mark.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
const MANAGED_BY = 'runtime-broker';
const INSTALLATION_LABEL = 'runtime-broker/installation';
const BINDING_ANNOTATION = 'runtime-broker/binding-id';
const INSTANCE_ANNOTATION = 'runtime-broker/instance-id';

/** Selects what carries the labels of that installation, by label selector. */
export function labelsOf(installation: string): string {
  return `${MANAGED_BY_LABEL}=${MANAGED_BY},${INSTALLATION_LABEL}=${installation}`;
}

export interface GrantDescription {
  /** From grantName. */
  readonly name: string;
  /** Where the account lives; role and role binding have no namespace. */
  readonly namespace: string;
  /** From makeMark. */
  readonly mark: string;
  /** The installation's uuid. */
  readonly installation: string;
  readonly bindingId: string;
  readonly instanceId: string;
}

export function accountOf(grant: GrantDescription): ServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { ...metadataOf(grant), namespace: grant.namespace },
    automountServiceAccountToken: false,
  };
}

/** All rights; resources and non-resource URLs (`/metrics`, `/healthz`) must not share a rule. */
export function roleOf(grant: GrantDescription): ClusterRole {
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'ClusterRole',
    metadata: metadataOf(grant),
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ],
  };
}

export function roleBindingOf(grant: GrantDescription): ClusterRoleBinding {
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: metadataOf(grant),
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: grant.name },
    subjects: [{ kind: 'ServiceAccount', name: grant.name, namespace: grant.namespace }],
  };
}

function metadataOf(grant: GrantDescription): ObjectMeta {
  return {
    name: grant.name,
    labels: { [MANAGED_BY_LABEL]: MANAGED_BY, [INSTALLATION_LABEL]: grant.installation },
    annotations: {
      [MARK_ANNOTATION]: grant.mark,
      [BINDING_ANNOTATION]: grant.bindingId,
      [INSTANCE_ANNOTATION]: grant.instanceId,
    },
  };
}
