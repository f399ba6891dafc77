// Reads one mapping of the configuration file against a table of keys and kinds, and notes every fault in it.
import { isJsonObject } from '../domain/json.ts';
import { type ConfigFault, kindOf, unknownKeyFault } from './faults.ts';
import type { Kind } from './kinds.ts';

/** Where in the file one is, and where faults go. */
export interface Place {
  /** Keys from the top, joined by dots; empty at the top. */
  readonly path: string;
  readonly faults: ConfigFault[];
}

export function below<P extends Place>(place: P, key: string): P {
  return { ...place, path: place.path === '' ? key : `${place.path}.${key}` };
}

type KindOf<K> = K extends Kind<infer T> ? T : never;

/** What was given and is of its kind. Without a value, or with a wrong one, the key is not there. */
export type Section<F> = { readonly [K in keyof F]?: KindOf<F[K]> };

/** The mapping at a place; nothing there is an empty one, anything else a fault. */
export function mappingAt(value: unknown, place: Place): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) {
    return {};
  }
  if (isJsonObject(value)) {
    return value;
  }
  place.faults.push({
    path: place.path === '' ? 'the configuration file' : place.path,
    found: kindOf(value),
    allowed: 'a mapping',
  });
  return {};
}

/**
 * @param subsections keys of the same mapping that are mappings themselves; the caller reads those
 */
export function readSection<F extends Readonly<Record<string, Kind<unknown>>>>(
  mapping: Readonly<Record<string, unknown>>,
  { kinds, subsections = [] }: { readonly kinds: F; readonly subsections?: readonly string[] },
  place: Place,
): Section<F> {
  const known = [...Object.keys(kinds), ...subsections];
  const section: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(mapping)) {
    const { path } = below(place, key);
    const kind = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
    if (kind !== undefined) {
      const read = kind.read(value);
      if (read === undefined) {
        place.faults.push({ path, found: kindOf(value), allowed: kind.allowed });
      } else {
        section[key] = read;
      }
    } else if (!subsections.includes(key)) {
      place.faults.push(unknownKeyFault(path, key, known));
    }
  }
  return section as Section<F>;
}
