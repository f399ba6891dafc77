// A text that a caller made up, as an answer or a log line may repeat it.

/** Longer than any name that means something: a GUID has 36 characters. */
const MAX_SHOWN_CHARACTERS = 128;

/** Without control characters, which could forge a line or steer a terminal, and not without end. */
export function cleaned(text: string): string {
  return text
    .replaceAll(/\p{Cc}/gu, '')
    .slice(0, MAX_SHOWN_CHARACTERS)
    .toWellFormed();
}
