// The request target as it was sent, before a router decodes it once and hands out its parts.

const PRINTABLE_ASCII = /^[\x21-\x7e]*$/;

/**
 * What is wrong with a target: bytes that no URL has, percent sequences that are not UTF-8 (contract 1, "Ids"), and
 * NUL, which no database takes and which means nothing in a query either.
 */
export function targetFault(target: string): string | undefined {
  if (!PRINTABLE_ASCII.test(target)) {
    return 'The URL must be percent-encoded.';
  }
  try {
    return decodeURIComponent(target).includes('\0')
      ? 'The URL must not contain a NUL character.'
      : undefined;
  } catch {
    return 'The URL has a percent sequence that is not valid UTF-8.';
  }
}
