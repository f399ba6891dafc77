// Which kinds have rules of their own. A kind without an entry has only those of all.

import { storageKey, type Resource } from '../api/resource.ts';
import { POLICY_BINDING_RULES, POLICY_RULES } from './admission-policies.ts';
import { DEFINITION_RULES } from './custom-resource-definitions.ts';
import type { KindRules } from './kind-rules.ts';
import { NAMESPACE_RULES } from './namespaces.ts';
import { POD_RULES } from './pods.ts';
import { BINDING_RULES, ROLE_RULES } from './rbac-objects.ts';
import { SECRET_RULES } from './secrets.ts';
import { WORKLOAD_RULES } from './workloads.ts';

const RULES: Readonly<Record<string, KindRules>> = {
  ...WORKLOAD_RULES,
  '/namespaces': NAMESPACE_RULES,
  '/pods': POD_RULES,
  '/secrets': SECRET_RULES,
  'admissionregistration.k8s.io/validatingadmissionpolicies': POLICY_RULES,
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': POLICY_BINDING_RULES,
  'apiextensions.k8s.io/customresourcedefinitions': DEFINITION_RULES,
  'rbac.authorization.k8s.io/clusterrolebindings': BINDING_RULES,
  'rbac.authorization.k8s.io/clusterroles': ROLE_RULES,
  'rbac.authorization.k8s.io/rolebindings': BINDING_RULES,
  'rbac.authorization.k8s.io/roles': ROLE_RULES,
};

const NO_RULES: KindRules = {};

export function rulesOfKind(resource: Resource): KindRules {
  return RULES[storageKey(resource)] ?? NO_RULES;
}
