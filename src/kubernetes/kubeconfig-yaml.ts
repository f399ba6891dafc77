// Parses the YAML of a tenant's kubeconfig within bounds, into Maps and lists. What the fields mean is left to
// readKubeconfig.

import { type Document, isScalar, LineCounter, parseAllDocuments, visit } from 'yaml';

/** A Map from field to value where the text has a map, so that no field name is special to the language. */
export type KubeconfigMap = ReadonlyMap<unknown, unknown>;

/** Its message is a sentence for whoever wrote the text; nothing of the text is in it. */
export class KubeconfigFormError extends Error {}

/**
 * A cluster takes 5 to 10 KiB with its certificates. The parser holds up all else meanwhile: for text that is made to
 * keep it busy (`[,,,`) half a second at this length, and more with each character.
 */
const MAX_LENGTH = 64 * 1024;

/** Enough for a person who shares a CA between two clusters, too few to multiply anything. */
const MAX_ALIASES = 16;

export function parseKubeconfigYaml(text: string): KubeconfigMap {
  if (text.length > MAX_LENGTH) {
    throw new KubeconfigFormError(
      'is longer than 64 KiB; `kubectl config view --raw --minify --flatten` prints the current context alone',
    );
  }
  const value = parseWithinBounds(text);
  if (!(value instanceof Map)) throw new KubeconfigFormError('is not a YAML map');
  return value;
}

function parseWithinBounds(text: string): unknown {
  const lineCounter = new LineCounter();
  const lineAt = (offset: number): number => lineCounter.linePos(offset).line;
  // The library's own check for duplicate keys compares each key with all before it.
  const options = {
    lineCounter,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  } as const;
  const [document, second] = withinNeeds(() => parseAllDocuments(text, options));
  if (document === undefined) throw new KubeconfigFormError('is empty');
  if (second !== undefined) throw new KubeconfigFormError('has more than one YAML document');
  const [fault] = document.errors;
  if (fault !== undefined) {
    throw new KubeconfigFormError(`is not valid YAML at line ${lineAt(fault.pos[0])}`);
  }
  const duplicate = withinNeeds(() => findDuplicateKey(document));
  if (duplicate !== undefined) {
    throw new KubeconfigFormError(`has a key twice in one map, at line ${lineAt(duplicate)}`);
  }
  return withinNeeds(
    () => document.toJS({ mapAsMap: true, maxAliasCount: MAX_ALIASES }) as unknown,
  );
}

/** Too many aliases, an alias of nothing, or nesting deeper than the stack; the library's own words quote the text. */
function withinNeeds<T>(act: () => T): T {
  try {
    return act();
  } catch {
    throw new KubeconfigFormError('has YAML aliases or nesting that no kubeconfig needs');
  }
}

/** Its offset in the text. */
function findDuplicateKey(document: Document.Parsed): number | undefined {
  let found: number | undefined;
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        const name: unknown = isScalar(key) ? key.value : key;
        if (seen.has(name)) {
          found = (isScalar(key) ? key.range?.[0] : undefined) ?? 0;
          return visit.BREAK;
        }
        seen.add(name);
      }
      return undefined;
    },
  });
  return found;
}
