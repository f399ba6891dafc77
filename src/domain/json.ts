// JSON values as they come from requests and go into rows, and when two of them say the same.

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isJsonList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Deep equality; the order of keys does not matter, the order of a list does. */
export function sameJson(left: JsonValue, right: JsonValue): boolean {
  if (isJsonList(left) && isJsonList(right)) {
    return (
      left.length === right.length && left.every((item, at) => sameJson(item, right[at] ?? null))
    );
  }
  if (isJsonObject(left) && isJsonObject(right)) {
    const keys = Object.keys(left);
    return (
      keys.length === Object.keys(right).length &&
      keys.every(
        (key) => Object.hasOwn(right, key) && sameJson(left[key] ?? null, right[key] ?? null),
      )
    );
  }
  return left === right;
}
