// Asks a cluster with a revoked token until it is refused. A TokenReview would answer from the same cache as the
// authentication, and any caller that is authenticated may review itself: only a right that we gave proves something.

import { UpstreamError } from '../domain/errors.ts';
import type { Secret } from '../domain/secret.ts';
import { failureOfThrown } from './failures.ts';
import type { Reach } from './owned-object.ts';

const ACTION = 'ask with the revoked token';

/** In full, what only the grant's role lets its account do. */
const QUESTION = '/api/v1/namespaces/kube-system/secrets?limit=1';

/**
 * Pauses between the questions, in milliseconds. The API server hears of an emptied role binding within a few, so
 * the first repeats come soon. A role binding that the holder made itself serves the account for as long as its
 * authentication is cached, which is 10 s: ask each second, 12 s in all.
 */
const PAUSES_MS = [25, 75, 200, 700, ...Array.from({ length: 11 }, () => 1_000)];

/** The objects are gone, but the API server still honours the token: retryable. */
export class StillHonouredError extends UpstreamError {
  constructor(detail: string) {
    super({ system: 'cluster', action: ACTION, reason: 'timed-out', detail });
    this.name = 'StillHonouredError';
  }
}

interface Question {
  readonly token: Secret;
  /** Resolves after the delay, or rejects when the signal fires. */
  readonly sleep: (delayMs: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * Returns when the answer is 401 or 403. Throws StillHonouredError after 12 s of other answers, and an UpstreamError
 * `cancelled` when the signal fires, be it in a call or between two.
 */
export async function askUntilRefused(reach: Reach, { token, sleep }: Question): Promise<void> {
  let answer = await ask(reach, token);
  for (const pauseMs of PAUSES_MS) {
    if (answer === 'refused') return;
    await pause(sleep(pauseMs, reach.signal), reach.signal);
    answer = await ask(reach, token);
  }
  if (answer !== 'refused') throw new StillHonouredError(`still ${answer} after 12 s`);
}

/** The sleep rejects with the signal's own reason, which nobody takes for a failure of the cluster's. */
async function pause(slept: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  try {
    await slept;
  } catch (thrown) {
    throw failureOfThrown(ACTION, thrown, signal?.aborted === true ? 'caller' : undefined);
  }
}

/** `refused`, or what was answered instead; a passing fault of the cluster is such an answer. */
async function ask({ client, signal }: Reach, token: Secret): Promise<string> {
  try {
    const status = await client.statusWith(token, {
      path: QUESTION,
      action: ACTION,
      signal,
    });
    return status === 401 || status === 403 ? 'refused' : `answered by ${status}`;
  } catch (error) {
    const passes =
      error instanceof UpstreamError && error.retryable && error.reason !== 'cancelled';
    if (!passes) throw error;
    return `without an answer (${error.reason})`;
  }
}
