// The kinds of values that keys of the configuration file take. A kind says in words what it allows, and reads a
// parsed YAML value as what it is meant to be, or not at all. Nothing is converted: "600" is not a number.
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts';

export interface Kind<T> {
  /** Completes "expected …". */
  readonly allowed: string;
  /** @returns undefined where the value is not of this kind */
  read(value: unknown): T | undefined;
}

export const flag: Kind<boolean> = {
  allowed: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
};

export function integerBetween(min: number, max: number): Kind<number> {
  return {
    allowed: `a whole number from ${min} to ${max}`,
    read: (value) =>
      typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
        ? value
        : undefined,
  };
}

/** A text of 1 to `maxCharacters` characters. */
export function textUpTo(maxCharacters: number): Kind<string> {
  return {
    allowed: `a text of 1 to ${maxCharacters} characters`,
    read: (value) =>
      typeof value === 'string' && value.trim() !== '' && value.length <= maxCharacters
        ? value
        : undefined,
  };
}

export function textLike(pattern: RegExp, allowed: string): Kind<string> {
  return {
    allowed,
    read: (value) => (typeof value === 'string' && pattern.test(value) ? value : undefined),
  };
}

export function oneOf<const T extends string>(options: readonly T[]): Kind<T> {
  return {
    allowed: `one of ${options.join(', ')}`,
    read: (value) => options.find((option) => option === value),
  };
}

/** Cloud Controller refuses larger ones (C45). */
const MAX_SCHEMA_BYTES = 64 * 1024;

const DRAFT_04 = 'http://json-schema.org/draft-04/schema#';

/** A JSON schema as the catalog may publish it: draft-04, self-contained, not too large (OSB 2.17, Schemas). */
export const parameterSchema: Kind<JsonObject> = {
  allowed: 'a JSON schema (draft-04, with references inside itself only, up to 64 KiB)',
  read: (value) => {
    if (!isJson(value) || !isJsonObject(value) || !referencesInside(value)) {
      return undefined;
    }
    const schema = { $schema: DRAFT_04, ...value };
    const fits = Buffer.byteLength(JSON.stringify(schema)) <= MAX_SCHEMA_BYTES;
    return schema.$schema === DRAFT_04 && fits ? schema : undefined;
  },
};

/** YAML also knows infinity and NaN, which JSON does not. */
function isJson(value: unknown): value is JsonValue {
  if (typeof value === 'number') {
    return Number.isFinite(value);
  }
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).every(isJson);
  }
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

function referencesInside(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) {
    return true;
  }
  const reference = isJsonObject(value) ? value['$ref'] : undefined;
  const external = typeof reference === 'string' && !reference.startsWith('#');
  return !external && Object.values(value).every(referencesInside);
}
