// Faults of a configuration: how one is described without showing what may be a secret, and how all are printed.
import { closestName } from './closest-name.ts';

export interface ConfigFault {
  /** `env RUNTIME_BROKER_LISTEN` for a variable, `plans.aws.binding.maxLive` for a key of the file. */
  readonly path: string;
  /** The kind of what is there; numbers and booleans as they are, texts never. */
  readonly found: string;
  /** A noun phrase; completes "expected …". */
  readonly allowed: string;
}

/** All digits of a number that is exact; what is longer is not worth its place in the sentence. */
const MAX_EXACT_DIGITS = 16;

/** Says of what kind a value is. Texts are not shown: the one in the wrong place may be a password. */
export function kindOf(value: unknown): string {
  if (value === undefined) {
    return 'nothing';
  }
  if (Array.isArray(value)) {
    return 'a list';
  }
  switch (typeof value) {
    case 'string':
      return value === '' ? 'an empty text' : 'a text';
    case 'number':
      return `the number ${String(value).slice(0, MAX_EXACT_DIGITS)}`;
    case 'boolean':
      return String(value);
    default:
      return value === null ? 'null' : 'a mapping';
  }
}

/** The fault of a name that nobody reads, with the name that was probably meant. */
export function unknownKeyFault(path: string, key: string, known: readonly string[]): ConfigFault {
  const meant = closestName(key, known);
  const list = `one of ${known.join(', ')}`;
  return {
    path,
    found: 'an unknown key',
    allowed: meant === undefined ? list : `${list} (did you mean ${meant}?)`,
  };
}

export function formatFaults(faults: readonly ConfigFault[]): string {
  const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`;
  const lines = faults.map(
    ({ path, found, allowed }) => `- ${path}: expected ${allowed}, found ${found}`,
  );
  return [`The configuration has ${count}:`, ...lines].join('\n');
}
