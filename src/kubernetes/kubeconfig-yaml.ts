// Parses the YAML of a tenant's kubeconfig within bounds, into Maps and lists. What the fields mean is left to
// readKubeconfig.

import { isScalar, LineCounter, parseAllDocuments, visit } from 'yaml';

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
  try {
    // The library's own check for duplicate keys compares each key with all before it.
    const [document, second] = parseAllDocuments(text, {
      lineCounter,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
    });
    if (document === undefined) throw new KubeconfigFormError('is empty');
    if (second !== undefined) throw new KubeconfigFormError('has more than one YAML document');
    const [fault] = document.errors;
    if (fault !== undefined) {
      throw new KubeconfigFormError(
        `is not valid YAML at line ${lineCounter.linePos(fault.pos[0]).line}`,
      );
    }
    refuseDuplicateKeys(document, lineCounter);
    return document.toJS({ mapAsMap: true, maxAliasCount: MAX_ALIASES });
  } catch (error) {
    if (error instanceof KubeconfigFormError) throw error;
    // Too many aliases, an alias of nothing, or nesting deeper than the parser's stack.
    throw new KubeconfigFormError('has YAML aliases or nesting beyond what a kubeconfig needs', {
      cause: error,
    });
  }
}

function refuseDuplicateKeys(document: Parameters<typeof visit>[0], lines: LineCounter): void {
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        const name: unknown = isScalar(key) ? key.value : key;
        if (seen.has(name)) {
          const offset = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
          throw new KubeconfigFormError(
            `has a key twice in one map, at line ${lines.linePos(offset).line}`,
          );
        }
        seen.add(name);
      }
    },
  });
}
