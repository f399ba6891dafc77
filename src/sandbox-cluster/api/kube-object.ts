// Objects as the API carries them: JSON with a kind and metadata. What is special to a kind is left to kinds/.

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [field: string]: JsonValue | undefined;
}

export interface ObjectMeta extends JsonObject {
  readonly name: string;
  readonly generateName?: string;
  /** Absent: the resource has none. */
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  /** As Kubernetes writes times: UTC, whole seconds. */
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

/** Never changed in place: a change is a new object. */
export interface KubeObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member where it is a map, else an empty one. */
export function mapAt(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return isJsonObject(value) ? value : {};
}

export function textAt(object: JsonObject, field: string): string | undefined {
  const value = object[field];
  return typeof value === 'string' ? value : undefined;
}

/** The texts of a list; anything else in it is left out. */
export function textsAt(object: JsonObject, field: string): readonly string[] {
  return listAt(object, field).filter((item): item is string => typeof item === 'string');
}

export function mapsAt(object: JsonObject, field: string): readonly JsonObject[] {
  return listAt(object, field).filter(isJsonObject);
}

function listAt(object: JsonObject, field: string): readonly JsonValue[] {
  const value = object[field];
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

/** Where a field was set to null it is absent afterwards, at any depth, as typed objects of Kubernetes have it. */
export function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).flatMap(([field, value]) =>
      value === null || value === undefined ? [] : [[field, cleaned(value)]],
    ),
  );
}

function cleaned(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(cleaned);
  return isJsonObject(value) ? withoutNulls(value) : value;
}

/** Whole seconds, as Kubernetes writes times. */
export function kubeTime(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}
