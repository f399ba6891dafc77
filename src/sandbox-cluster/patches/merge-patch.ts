// JSON merge patch (RFC 7396).

import { isJsonObject, type JsonObject, type JsonValue } from '../api/kube-object.ts';

export function applyMergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map<string, JsonValue | undefined>(Object.entries(target));
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) {
      merged.delete(field);
    } else if (isJsonObject(value)) {
      const old = merged.get(field);
      merged.set(field, applyMergePatch(isJsonObject(old) ? old : {}, value));
    } else {
      merged.set(field, value);
    }
  }
  return Object.fromEntries(merged);
}
