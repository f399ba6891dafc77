// Decides what a user may do, as Kubernetes' RBAC does: by the roles that bindings give, read anew for each request.
// A binding to a role that is missing gives nothing; one that is being deleted gives all it gave.

import { type JsonObject, type KubeObject, mapAt, mapsAt, textAt } from '../api/kube-object.ts';
import { accountUsername, MASTERS, type User } from '../api/user.ts';
import type { ObjectTable } from '../objects/object-table.ts';
import { type Attributes, covers, type PolicyRule, rulesOf } from './policy-rule.ts';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES } from './rbac-resources.ts';

export interface Verdict {
  readonly isAllowed: boolean;
  /** Empty where nothing can be said. */
  readonly reason: string;
}

/** What a binding gives a user. */
interface Given {
  readonly rule: PolicyRule;
  readonly by: string;
}

export class Authorizer {
  readonly #objects: ObjectTable;

  constructor(objects: ObjectTable) {
    this.#objects = objects;
  }

  decide(user: User, wanted: Attributes): Verdict {
    if (user.groups.includes(MASTERS)) return { isAllowed: true, reason: '' };
    const namespace = 'path' in wanted ? undefined : wanted.namespace;
    for (const { rule, by } of this.#given(user, namespace)) {
      if (covers(rule, wanted)) return { isAllowed: true, reason: `RBAC: allowed by ${by}` };
    }
    return { isAllowed: false, reason: '' };
  }

  /** Those for the whole cluster, and with a namespace also those for it. */
  rulesFor(user: User, namespace: string | undefined): readonly PolicyRule[] {
    return [...this.#given(user, namespace)].map(({ rule }) => rule);
  }

  /** Undefined where there is no such role. */
  rulesOfRole(
    roleRef: JsonObject,
    namespace: string | undefined,
  ): readonly PolicyRule[] | undefined {
    const isNamespaced = textAt(roleRef, 'kind') === 'Role';
    const role = this.#objects.get({
      resource: isNamespaced ? ROLES : CLUSTER_ROLES,
      name: textAt(roleRef, 'name') ?? '',
      ...(isNamespaced ? { namespace } : {}),
    });
    return role === undefined ? undefined : rulesOf(role);
  }

  *#given(user: User, namespace: string | undefined): Generator<Given> {
    yield* this.#givenBy(this.#objects.each(CLUSTER_ROLE_BINDINGS), user);
    if (namespace === undefined || namespace === '') return;
    const bindings = this.#objects.list(ROLE_BINDINGS, namespace);
    yield* this.#givenBy(bindings, user);
  }

  *#givenBy(bindings: Iterable<KubeObject>, user: User): Generator<Given> {
    for (const binding of bindings) {
      const { namespace } = binding.metadata;
      const subject = mapsAt(binding, 'subjects').find((one) => isSubject(user, one, namespace));
      if (subject === undefined) continue;
      const roleRef = mapAt(binding, 'roleRef');
      const rules = this.rulesOfRole(roleRef, namespace) ?? [];
      const by = described(binding, subject);
      for (const rule of rules) yield { rule, by };
    }
  }
}

function isSubject(user: User, subject: JsonObject, bindingNamespace: string | undefined): boolean {
  const name = textAt(subject, 'name') ?? '';
  switch (textAt(subject, 'kind')) {
    case 'User':
      return user.username === name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount': {
      const namespace = textAt(subject, 'namespace') || bindingNamespace;
      return namespace !== undefined && user.username === accountUsername(namespace, name);
    }
    case undefined:
    default:
      return false;
  }
}

function described(binding: KubeObject, subject: JsonObject): string {
  const { name, namespace } = binding.metadata;
  const roleRef = mapAt(binding, 'roleRef');
  const where = namespace === undefined ? name : `${name}/${namespace}`;
  const subjectNamespace = textAt(subject, 'namespace');
  const who =
    subjectNamespace === undefined
      ? `"${textAt(subject, 'name')}"`
      : `"${textAt(subject, 'name')}/${subjectNamespace}"`;
  return `${binding.kind} "${where}" of ${textAt(roleRef, 'kind')} "${textAt(roleRef, 'name')}" to ${textAt(subject, 'kind')} ${who}`;
}
