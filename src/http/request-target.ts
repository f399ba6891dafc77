// The request target as it was sent, before a router decodes it once and hands out its parts.

/**
 * What is wrong with a target: percent sequences that are not UTF-8 (RFC 3986), and NUL, which no database takes and
 * which means nothing in a query either. Bytes that no URL has were refused by Node's parser.
 */
export function targetFault(target: string): string | undefined {
  try {
    return decodeURIComponent(target).includes('\0')
      ? 'The URL must not contain a NUL character.'
      : undefined;
  } catch {
    return 'The URL has a percent sequence that is not valid UTF-8.';
  }
}
