// What a text of a platform may be long, where it is kept: accounts, users, origins, regions.

/**
 * What OSB 2.17 asks everybody to take for a text, in code points. Also far below what an index of PostgreSQL holds (a
 * third of a page), so that no text that is let in can fail an insert.
 */
export const MAX_STORED_CHARACTERS = 255;

export function isTooLongToStore(text: string): boolean {
  return Array.from(text).length > MAX_STORED_CHARACTERS;
}
