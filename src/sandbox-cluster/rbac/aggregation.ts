// Roles that collect the rules of others by labels. On a cluster a controller does it; here each write of a role does.

import { isDeepStrictEqual } from 'node:util';

import { type JsonObject, type KubeObject, mapAt, mapsAt, textAt } from '../api/kube-object.ts';
import type { Change, ObjectTable } from '../objects/object-table.ts';
import { CLUSTER_ROLES } from './rbac-resources.ts';

/** One role may collect what another has collected; three levels are what Kubernetes' own roles need. */
const MAX_ROUNDS = 10;

/** Writes the roles that are not as they are to be. */
export function aggregateRoles(objects: ObjectTable): void {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const roles = [...objects.each(CLUSTER_ROLES)];
    const changed = roles.flatMap((role) => {
      const rules = collectedRules(role, roles);
      const isSame = rules === undefined || isDeepStrictEqual(rules, role['rules'] ?? []);
      return isSame ? [] : [{ ...role, rules }];
    });
    if (changed.length === 0) return;
    for (const role of changed) objects.put(CLUSTER_ROLES, role);
  }
}

/** Whether the change of a role may change what a role collects. */
export function concernsAggregation(objects: ObjectTable, { object, previous }: Change): boolean {
  const changed = previous === undefined ? [object] : [object, previous];
  if (changed.some((role) => role['aggregationRule'] !== undefined)) return true;
  return [...objects.each(CLUSTER_ROLES)]
    .flatMap(selectorsOf)
    .some((selector) => changed.some((role) => selects(selector, role.metadata.labels ?? {})));
}

/** Undefined where the role collects nothing. */
function collectedRules(
  role: KubeObject,
  roles: readonly KubeObject[],
): readonly JsonObject[] | undefined {
  if (role['aggregationRule'] === undefined) return undefined;
  const selectors = selectorsOf(role);
  const isSelected = (other: KubeObject): boolean =>
    selectors.some((selector) => selects(selector, other.metadata.labels ?? {}));
  const rules = roles
    .filter((other) => other.metadata.name !== role.metadata.name && isSelected(other))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap((other) => mapsAt(other, 'rules'));
  return rules.filter(
    (rule, index) => rules.findIndex((other) => isDeepStrictEqual(other, rule)) === index,
  );
}

function selectorsOf(role: KubeObject): readonly JsonObject[] {
  if (role['aggregationRule'] === undefined) return [];
  return mapsAt(mapAt(role, 'aggregationRule'), 'clusterRoleSelectors');
}

function selects(selector: JsonObject, labels: Readonly<Record<string, string>>): boolean {
  return (
    Object.entries(mapAt(selector, 'matchLabels')).every(([key, value]) => labels[key] === value) &&
    mapsAt(selector, 'matchExpressions').every((expression) => holds(expression, labels))
  );
}

function holds(expression: JsonObject, labels: Readonly<Record<string, string>>): boolean {
  const label = labels[textAt(expression, 'key') ?? ''];
  const values = expression['values'];
  const isIn = Array.isArray(values) && label !== undefined && values.includes(label);
  switch (textAt(expression, 'operator')) {
    case 'In':
      return isIn;
    case 'NotIn':
      return !isIn;
    case 'Exists':
      return label !== undefined;
    case 'DoesNotExist':
      return label === undefined;
    case undefined:
    default:
      return false;
  }
}
