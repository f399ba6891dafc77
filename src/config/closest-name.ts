// "Did you mean …?" for misspelt names of variables and keys.

/** Two slips are a typing error; three make another word. */
const MAX_SLIPS = 2;

/** A name of four letters with two wrong ones is not recognisable any more. */
const LETTERS_PER_SLIP = 3;

/** @returns the known name that is closest, if it is close enough to be meant; case and `_`, `-` do not count */
export function closestName(name: string, known: readonly string[]): string | undefined {
  const wanted = simplified(name);
  let best: { readonly name: string; readonly slips: number } | undefined;
  for (const candidate of known) {
    const slips = editDistance(wanted, simplified(candidate));
    if (slips <= allowedSlips(wanted) && (best === undefined || slips < best.slips)) {
      best = { name: candidate, slips };
    }
  }
  return best?.name;
}

function simplified(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

function allowedSlips(name: string): number {
  return Math.min(MAX_SLIPS, Math.floor(name.length / LETTERS_PER_SLIP));
}

/** Levenshtein's distance, row by row. */
function editDistance(left: string, right: string): number {
  let above = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const replaced = left[row - 1] === right[column - 1] ? 0 : 1;
      current.push(
        Math.min(
          (above[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (above[column - 1] ?? 0) + replaced,
        ),
      );
    }
    above = current;
  }
  return above[right.length] ?? 0;
}
