// Why an operator does something that cannot be taken back: a text of theirs, recorded with it for whoever asks later.

/** A few sentences and a ticket's address; more belongs into the ticket. */
const MAX_REASON_CHARACTERS = 1000;

/** @returns what is wrong with it, or undefined */
export function reasonFault(reason: string): string | undefined {
  if (reason.trim() === '') {
    return 'must not be empty';
  }
  if (reason.includes('\0') || !reason.isWellFormed()) {
    return 'must not contain NUL characters or unpaired surrogates';
  }
  return Array.from(reason).length > MAX_REASON_CHARACTERS
    ? `must not be longer than ${MAX_REASON_CHARACTERS} characters`
    : undefined;
}
