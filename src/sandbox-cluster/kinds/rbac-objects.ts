// Roles and bindings: their form. Whether their writer may give what they give is left to rbac/escalation.ts.

import { isDeepStrictEqual } from 'node:util';

import { type JsonObject, type KubeObject, mapAt, mapsAt, textAt } from '../api/kube-object.ts';
import { badRequest, type FieldCause, invalidValue, requiredValue } from '../api/status.ts';
import { hasRuleTypes, rulesOf } from '../rbac/policy-rule.ts';
import { RBAC_GROUP } from '../rbac/rbac-resources.ts';
import type { KindRules } from './kind-rules.ts';

export const ROLE_RULES: KindRules = {
  complete(object) {
    // Whoever evaluates rules need not look at their types again.
    if (!hasRuleTypes(object['rules'])) {
      throw badRequest(`${object.kind} cannot be handled: rules have fields of another type`);
    }
    return object;
  },
  faults: (object) =>
    rulesOf(object).flatMap((rule, index) => {
      const at = (field: string): string => `rules[${index}].${field}`;
      if (rule.verbs.length === 0) {
        return [requiredValue(at('verbs'), 'verbs must contain at least one value')];
      }
      if (rule.nonResourceURLs.length > 0) return nonResourceFaults(object, rule, at);
      return (['apiGroups', 'resources'] as const)
        .filter((field) => rule[field].length === 0)
        .map((field) =>
          requiredValue(
            at(field),
            `resource rules must supply at least one ${field === 'apiGroups' ? 'api group' : 'resource'}`,
          ),
        );
    }),
};

function nonResourceFaults(
  object: KubeObject,
  rule: ReturnType<typeof rulesOf>[number],
  at: (field: string) => string,
): readonly FieldCause[] {
  const urls = rule.nonResourceURLs;
  const isMixed = [rule.apiGroups, rule.resources, rule.resourceNames].some(
    (list) => list.length > 0,
  );
  if (object.kind === 'Role') {
    const why = 'namespaced rules cannot apply to non-resource URLs';
    return [invalidValue(at('nonResourceURLs'), urls, why)];
  }
  const why = 'rules cannot apply to both regular resources and non-resource URLs';
  return isMixed ? [invalidValue(at('nonResourceURLs'), urls, why)] : [];
}

export const BINDING_RULES: KindRules = {
  complete: (object) => {
    const roleRef = mapAt(object, 'roleRef');
    const subjects = mapsAt(object, 'subjects').map(completedSubject);
    const { subjects: _, ...rest } = object;
    return {
      ...(rest as KubeObject),
      ...(subjects.length === 0 ? {} : { subjects }),
      roleRef: { ...roleRef, apiGroup: textAt(roleRef, 'apiGroup') || RBAC_GROUP },
    };
  },
  faults: (object, old) => [
    ...roleRefFaults(object),
    ...mapsAt(object, 'subjects').flatMap((subject, index) =>
      subjectFaults(object, subject, `subjects[${index}]`),
    ),
    ...(old === undefined || isDeepStrictEqual(old['roleRef'], object['roleRef'])
      ? []
      : [invalidValue('roleRef', object['roleRef'], 'cannot change roleRef')]),
  ],
};

function completedSubject(subject: JsonObject): JsonObject {
  const isAccount = textAt(subject, 'kind') === 'ServiceAccount';
  const apiGroup = textAt(subject, 'apiGroup') || (isAccount ? '' : RBAC_GROUP);
  const { apiGroup: _, ...rest } = subject;
  return apiGroup === '' ? rest : { ...rest, apiGroup };
}

function roleRefFaults(object: KubeObject): readonly FieldCause[] {
  const roleRef = mapAt(object, 'roleRef');
  const kinds = object.kind === 'RoleBinding' ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  const kind = textAt(roleRef, 'kind') ?? '';
  return [
    ...(textAt(roleRef, 'apiGroup') === RBAC_GROUP
      ? []
      : [
          invalidValue(
            'roleRef.apiGroup',
            roleRef['apiGroup'],
            `supported values: "${RBAC_GROUP}"`,
          ),
        ]),
    ...(kinds.includes(kind)
      ? []
      : [invalidValue('roleRef.kind', kind, `supported values: ${JSON.stringify(kinds)}`)]),
    ...((textAt(roleRef, 'name') ?? '') === '' ? [requiredValue('roleRef.name')] : []),
  ];
}

const SUBJECT_KINDS = ['ServiceAccount', 'User', 'Group'];

function subjectFaults(
  object: KubeObject,
  subject: JsonObject,
  path: string,
): readonly FieldCause[] {
  const kind = textAt(subject, 'kind') ?? '';
  const isInNamespace =
    object.kind === 'RoleBinding' || (textAt(subject, 'namespace') ?? '') !== '';
  return [
    ...((textAt(subject, 'name') ?? '') === '' ? [requiredValue(`${path}.name`)] : []),
    ...(SUBJECT_KINDS.includes(kind)
      ? []
      : [invalidValue(`${path}.kind`, kind, `supported values: ${JSON.stringify(SUBJECT_KINDS)}`)]),
    ...(kind !== 'ServiceAccount' || isInNamespace ? [] : [requiredValue(`${path}.namespace`)]),
  ];
}
