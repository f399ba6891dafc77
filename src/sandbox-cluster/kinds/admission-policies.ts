// Validating admission policies, with which an administrator forbids writes, also to other administrators. Of their
// language only the constants `true` and `false` are known here; any other expression is refused when it is written.

import {
  type JsonObject,
  type KubeObject,
  mapAt,
  mapsAt,
  textAt,
  textsAt,
} from '../api/kube-object.ts';
import type { Resource } from '../api/resource.ts';
import { type FieldCause, invalid, invalidValue } from '../api/status.ts';
import { qualifiedResource } from '../rbac/rbac-resources.ts';
import type { KindRules } from './kind-rules.ts';

export const POLICIES = 'admissionregistration.k8s.io/validatingadmissionpolicies';
export const POLICY_BINDINGS = 'admissionregistration.k8s.io/validatingadmissionpolicybindings';

export const POLICY_RULES: KindRules = {
  faults: (object) => {
    const spec = mapAt(object, 'spec');
    return [
      ...mapsAt(spec, 'validations').flatMap((validation, index) =>
        expressionFaults(validation, `spec.validations[${index}].expression`),
      ),
      ...['matchConditions', 'variables', 'auditAnnotations', 'paramKind']
        .filter((field) => spec[field] !== undefined)
        .map((field) => invalidValue(`spec.${field}`, '', 'not known to a sandbox cluster')),
    ];
  },
};

export const POLICY_BINDING_RULES: KindRules = {};

function expressionFaults(validation: JsonObject, path: string): readonly FieldCause[] {
  const expression = textAt(validation, 'expression')?.trim() ?? '';
  if (['true', 'false'].includes(expression)) return [];
  const why = 'a sandbox cluster evaluates only the constants true and false';
  return [invalidValue(path, expression, why)];
}

export interface Write {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly resource: Resource;
  readonly subresource?: string | undefined;
  readonly name: string;
}

/** Throws the 422 of the first policy that denies the write. */
export function checkPolicies(
  write: Write,
  policies: {
    readonly of: (name: string) => KubeObject | undefined;
    readonly bindings: Iterable<KubeObject>;
  },
): void {
  for (const binding of policies.bindings) {
    const spec = mapAt(binding, 'spec');
    const policy = policies.of(textAt(spec, 'policyName') ?? '');
    if (policy === undefined || !textsAt(spec, 'validationActions').includes('Deny')) continue;
    const failed = mapsAt(mapAt(policy, 'spec'), 'validations').find(
      (validation) => textAt(validation, 'expression')?.trim() === 'false',
    );
    if (failed === undefined || !isMeant(write, policy)) continue;
    throw denied(write, { policy, binding, failed });
  }
}

function isMeant({ operation, resource, subresource, name }: Write, policy: KubeObject): boolean {
  // The API server does not let policies keep themselves.
  if (resource.group === 'admissionregistration.k8s.io') return false;
  const wanted = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
  const has = (rule: JsonObject, field: string, value: string): boolean =>
    textsAt(rule, field).some((item) => item === '*' || item === value);
  return mapsAt(mapAt(mapAt(policy, 'spec'), 'matchConstraints'), 'resourceRules').some(
    (rule) =>
      has(rule, 'operations', operation) &&
      has(rule, 'apiGroups', resource.group) &&
      has(rule, 'apiVersions', resource.version) &&
      has(rule, 'resources', wanted) &&
      (textsAt(rule, 'resourceNames').length === 0 ||
        textsAt(rule, 'resourceNames').includes(name)),
  );
}

function denied(
  write: Write,
  by: { policy: KubeObject; binding: KubeObject; failed: JsonObject },
): Error {
  const { resource, name } = write;
  const said = textAt(by.failed, 'message') ?? 'failed expression: false';
  const message = `ValidatingAdmissionPolicy '${by.policy.metadata.name}' with binding '${by.binding.metadata.name}' denied request: ${said}`;
  return invalid({ kind: qualifiedResource(resource), group: '', name }, [
    { reason: 'FieldValueInvalid', message, field: '' },
  ]);
}
