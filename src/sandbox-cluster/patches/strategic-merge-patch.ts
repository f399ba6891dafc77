// Strategic merge patch: a merge patch whose lists are merged by a key where Kubernetes says so, with its directives
// ($patch, $deleteFromPrimitiveList, $setElementOrder, $retainKeys). What kubectl apply and kubectl patch send.

import { isJsonObject, type JsonObject, type JsonValue } from '../api/kube-object.ts';
import { badRequest } from '../api/status.ts';

/** Field → the key of its items, as the types of Kubernetes are tagged; several where a name means several lists. */
const MERGE_KEYS: Readonly<Record<string, readonly string[]>> = {
  clusterRoleSelectors: [],
  conditions: ['type'],
  containers: ['name'],
  containerStatuses: ['name'],
  env: ['name'],
  ephemeralContainers: ['name'],
  hostAliases: ['ip'],
  imagePullSecrets: ['name'],
  initContainers: ['name'],
  ownerReferences: ['uid'],
  // Of a container, then of a service.
  ports: ['containerPort', 'port'],
  secrets: ['name'],
  topologySpreadConstraints: ['topologyKey'],
  volumeDevices: ['devicePath'],
  volumeMounts: ['mountPath'],
  volumes: ['name'],
};

/** Lists of texts that grow by what a patch names. */
const MERGED_TEXTS = new Set(['finalizers']);

/** Throws a 400 where a directive cannot be read. */
export function applyStrategicMergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  switch (patch['$patch']) {
    case 'replace':
      return withoutDirectives(patch);
    case 'delete':
      return {};
    case undefined:
    case 'merge':
      return merge(target, patch);
    default:
      throw badRequest(`unknown patch directive: ${JSON.stringify(patch['$patch'])}`);
  }
}

function merge(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map<string, JsonValue | undefined>(Object.entries(retained(target, patch)));
  for (const [field, value] of Object.entries(withoutDirectives(patch))) {
    if (value === null) merged.delete(field);
    else merged.set(field, mergedValue(field, merged.get(field), value));
  }
  for (const [field, values] of Object.entries(patch)) {
    const list = /^\$deleteFromPrimitiveList\/(.+)$/.exec(field)?.[1];
    if (list !== undefined) merged.set(list, without(merged.get(list), values));
  }
  return Object.fromEntries(merged);
}

function retained(target: JsonObject, patch: JsonObject): JsonObject {
  const keys = patch['$retainKeys'];
  if (!Array.isArray(keys)) return target;
  return Object.fromEntries(Object.entries(target).filter(([field]) => keys.includes(field)));
}

function mergedValue(
  field: string,
  old: JsonValue | undefined,
  value: JsonValue | undefined,
): JsonValue | undefined {
  if (isJsonObject(value)) return applyStrategicMergePatch(isJsonObject(old) ? old : {}, value);
  if (!Array.isArray(value)) return value;
  const items = value as readonly JsonValue[];
  const olds = Array.isArray(old) ? (old as readonly JsonValue[]) : [];
  if (MERGED_TEXTS.has(field)) return [...new Set([...olds, ...items])];
  const maps = items.filter(isJsonObject);
  const key = keyOfList(field, [...maps, ...olds.filter(isJsonObject)]);
  if (key === undefined || maps.length < items.length) return items;
  return mergedList(olds.filter(isJsonObject), maps, key);
}

function keyOfList(field: string, items: readonly JsonObject[]): string | undefined {
  return MERGE_KEYS[field]?.find((key) =>
    items.every((item) => item[key] !== undefined || item['$patch'] === 'replace'),
  );
}

function mergedList(
  olds: readonly JsonObject[],
  patches: readonly JsonObject[],
  key: string,
): readonly JsonObject[] {
  const isReplaced = patches.some((item) => item['$patch'] === 'replace');
  let list = isReplaced ? [] : [...olds];
  for (const item of patches) {
    const index = list.findIndex((old) => old[key] === item[key]);
    const old = list[index];
    if (item['$patch'] === 'delete') list = list.filter((other) => other[key] !== item[key]);
    else if (item['$patch'] === 'replace') continue;
    else if (old === undefined) list.push(withoutDirectives(item));
    else list = list.with(index, applyStrategicMergePatch(old, item));
  }
  return list;
}

function withoutDirectives(patch: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(patch).filter(([field]) => !field.startsWith('$')));
}

function without(list: JsonValue | undefined, values: JsonValue | undefined): JsonValue {
  const gone = Array.isArray(values) ? (values as readonly JsonValue[]) : [];
  return Array.isArray(list)
    ? (list as readonly JsonValue[]).filter((item) => !gone.includes(item))
    : [];
}
