// Which identifiers of instances and bindings we take. Everything a platform may invent is an id, slashes and
// dots included; only what no URL, database or cluster can carry unharmed is refused.

/** Argued by PostgreSQL's index row limit (a third of a page) and by what platforms send: GUIDs, mostly. */
const MAX_CODE_POINTS = 255;

/**
 * @param id already percent-decoded, once
 * @returns what is wrong with it, or undefined (docs/api.md, "What holds for all OSB routes")
 */
export function osbIdFault(id: string): string | undefined {
  if (id === '') {
    return 'must not be empty';
  }
  if (id === '.' || id === '..') {
    return 'must not be "." or ".."';
  }
  if (id.includes('\0')) {
    return 'must not contain a NUL character';
  }
  if (!id.isWellFormed()) {
    return 'must be valid UTF-8';
  }
  return Array.from(id).length > MAX_CODE_POINTS
    ? `must not be longer than ${MAX_CODE_POINTS} characters`
    : undefined;
}
