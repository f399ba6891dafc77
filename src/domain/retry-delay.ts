// How long something that failed is left alone before it is tried again: twice as long after each failure, never longer
// than a quarter of an hour, and without an end, since what is not revoked may not be forgotten.

/** Most of what passes by itself has passed by then: a restart, a fail-over. */
const FIRST_DELAY_MS = 5_000;

/**
 * A cluster that comes back after days is cleaned within this; asking it four times an hour meanwhile costs nothing. It
 * also bounds what the other side asks for: a tenant, or a page of what stands before his cluster, could else put off for
 * a day with one answer what has expired there.
 */
const LONGEST_DELAY_MS = 15 * 60 * 1000;

/** Of the delay: what failed together is not to be tried together again. Only downwards, so that the longest holds. */
const JITTER = 0.1;

export interface FailedTries {
  /** How many tries have failed, this one included: 1 or more. */
  readonly count: number;
  /** Drawn from [0, 1). */
  readonly draw: number;
  /** Whole seconds that the other side asked for; waited for up to the longest delay, and a shorter wish changes nothing. */
  readonly retryAfterSeconds?: number | undefined;
}

/** In whole milliseconds. */
export function retryDelayMs({ count, draw, retryAfterSeconds = 0 }: FailedTries): number {
  const wanted = Math.min(FIRST_DELAY_MS * 2 ** (count - 1), LONGEST_DELAY_MS);
  const asked = Math.min(retryAfterSeconds * 1000, LONGEST_DELAY_MS);
  return Math.max(Math.round(wanted * (1 - JITTER * draw)), asked);
}
