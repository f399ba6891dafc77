// Nobody gives what he has not: who writes a role or a binding must have its rights himself, or be allowed to
// `escalate` the role or to `bind` it.

import { type KubeObject, mapAt, textAt } from '../api/kube-object.ts';
import { type Resource, storageKey, subjectOf } from '../api/resource.ts';
import { forbidden, notFound } from '../api/status.ts';
import { MASTERS, type User } from '../api/user.ts';
import type { Authorizer } from './authorizer.ts';
import { coversPart, partsOf, type PolicyRule, rulesOf } from './policy-rule.ts';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  RBAC_GROUP,
  ROLE_BINDINGS,
  ROLES,
} from './rbac-resources.ts';

export interface RoleWriter {
  readonly user: User;
  readonly authorizer: Authorizer;
}

/** Throws a 403 that names what is given too much; a 404 where the role of a binding is missing. */
export function checkEscalation(writer: RoleWriter, resource: Resource, object: KubeObject): void {
  if (writer.user.groups.includes(MASTERS)) return;
  const key = storageKey(resource);
  if (key === ROLES || key === CLUSTER_ROLES) checkRole(writer, resource, object);
  if (key === ROLE_BINDINGS || key === CLUSTER_ROLE_BINDINGS) {
    checkBinding(writer, resource, object);
  }
}

function checkRole(writer: RoleWriter, resource: Resource, role: KubeObject): void {
  const { name, namespace } = role.metadata;
  const { user, authorizer } = writer;
  const may = authorizer.decide(user, {
    verb: 'escalate',
    group: RBAC_GROUP,
    resource: resource.plural,
    name,
    namespace,
  });
  if (may.isAllowed) return;
  // What it will collect is not known: only who has everything may let it.
  const collects = role['aggregationRule'] !== undefined;
  refuseMissing(writer, { resource, object: role, rules: collects ? [EVERYTHING] : rulesOf(role) });
}

const EVERYTHING: PolicyRule = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  resourceNames: [],
  nonResourceURLs: [],
};

function checkBinding(writer: RoleWriter, resource: Resource, binding: KubeObject): void {
  const { namespace } = binding.metadata;
  const { user, authorizer } = writer;
  const roleRef = mapAt(binding, 'roleRef');
  const name = textAt(roleRef, 'name') ?? '';
  const plural = textAt(roleRef, 'kind') === 'Role' ? 'roles' : 'clusterroles';
  const may = authorizer.decide(user, {
    verb: 'bind',
    group: RBAC_GROUP,
    resource: plural,
    name,
    namespace,
  });
  if (may.isAllowed) return;
  const rules = authorizer.rulesOfRole(roleRef, namespace);
  if (rules === undefined) throw notFound({ kind: plural, group: RBAC_GROUP, name });
  refuseMissing(writer, { resource, object: binding, rules });
}

function refuseMissing(
  { user, authorizer }: RoleWriter,
  given: { resource: Resource; object: KubeObject; rules: readonly PolicyRule[] },
): void {
  const { name, namespace } = given.object.metadata;
  const held = authorizer.rulesFor(user, namespace);
  const missing = given.rules
    .flatMap(partsOf)
    .filter((part) => !held.some((rule) => coversPart(rule, part)));
  if (missing.length === 0) return;
  const who = `user ${JSON.stringify(user.username)} (groups=${JSON.stringify(user.groups)})`;
  const what = missing.map(described).join('\n');
  const why = `${who} is attempting to grant RBAC permissions not currently held:\n${what}`;
  throw forbidden(subjectOf(given.resource, name), why);
}

function described(rule: PolicyRule): string {
  const fields = {
    APIGroups: rule.apiGroups,
    Resources: rule.resources,
    ResourceNames: rule.resourceNames,
    NonResourceURLs: rule.nonResourceURLs,
    Verbs: rule.verbs,
  };
  const filled = Object.entries(fields).filter(([, list]) => list.length > 0);
  return `{${filled.map(([field, list]) => `${field}:${JSON.stringify(list)}`).join(', ')}}`;
}
