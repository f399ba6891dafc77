// Questions about rights: one's own, and those of others.

import { isJsonObject, type JsonObject, mapAt, textAt, textsAt } from '../api/kube-object.ts';
import { invalid, invalidValue } from '../api/status.ts';
import type { User } from '../api/user.ts';
import type { Cluster } from '../cluster.ts';
import type { Attributes } from '../rbac/policy-rule.ts';

const GROUP = 'authorization.k8s.io';

/** @returns the status of a review. Throws a 422. */
export function reviewAccess(cluster: Cluster, user: User, spec: JsonObject): JsonObject {
  const { isAllowed, reason } = cluster.authorizer.decide(user, attributesOf(spec));
  return { allowed: isAllowed, ...(reason === '' ? {} : { reason }) };
}

function attributesOf(spec: JsonObject): Attributes {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
  if (isJsonObject(resource) === isJsonObject(path)) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    throw invalid({ kind: '', group: GROUP }, [invalidValue('spec.resourceAttributes', null, why)]);
  }
  if (isJsonObject(path)) {
    return { verb: textAt(path, 'verb') ?? '', path: textAt(path, 'path') ?? '' };
  }
  const given = mapAt(spec, 'resourceAttributes');
  return {
    verb: textAt(given, 'verb') ?? '',
    group: textAt(given, 'group') ?? '',
    resource: textAt(given, 'resource') ?? '',
    subresource: textAt(given, 'subresource'),
    namespace: textAt(given, 'namespace'),
    name: textAt(given, 'name'),
  };
}

/** Whom a SubjectAccessReview asks about. */
export function reviewedUser(spec: JsonObject): User {
  const user = textAt(spec, 'user') ?? '';
  const groups = textsAt(spec, 'groups');
  if (user === '' && groups.length === 0) {
    throw invalid({ kind: 'SubjectAccessReview', group: GROUP }, [
      invalidValue('spec.user', '', 'at least one of user or group must be specified'),
    ]);
  }
  return { username: user, groups };
}

/** @returns the status of a SelfSubjectRulesReview */
export function reviewRules(cluster: Cluster, user: User, spec: JsonObject): JsonObject {
  const rules = cluster.authorizer.rulesFor(user, textAt(spec, 'namespace'));
  return {
    resourceRules: rules
      .filter(({ nonResourceURLs }) => nonResourceURLs.length === 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        ...(resourceNames.length === 0 ? {} : { resourceNames }),
      })),
    nonResourceRules: rules
      .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: false,
  };
}
