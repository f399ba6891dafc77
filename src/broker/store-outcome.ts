// Stores what an issue came to. A database that is away is waited for within the create limit, since the write may be
// repeated: it finds the row as it was, as the first try has left it, or ordered to end.
import { UpstreamError } from '../domain/errors.ts';
import { commitOutcomeIsUnknown } from '../storage/failures.ts';
import { type GrantOutcome, recordOutcome } from '../storage/grants.ts';
import type { Broker } from './broker.ts';

/**
 * `fenced`: the grant was ordered to end meanwhile, nothing was stored. `failed`: nothing was stored, and the row is as
 * it was. `unknown`: it may have been, so the row as it is found later decides.
 */
export type StoredOutcome =
  | { readonly result: 'stored' | 'fenced' }
  | { readonly result: 'failed' | 'unknown'; readonly error: unknown };

/** A restart takes a second or two; a pool that has no server tells so at once. */
const PAUSE_MS = 250;

/** @param signal fires at the create limit; a try that has begun is waited for */
export async function storeOutcome(
  broker: Broker,
  outcome: GrantOutcome,
  signal: AbortSignal,
): Promise<StoredOutcome> {
  let isUnknown = false;
  for (;;) {
    try {
      const isStored = await recordOutcome(broker.db, outcome);
      return { result: isStored ? 'stored' : 'fenced' };
    } catch (error) {
      isUnknown ||= commitOutcomeIsUnknown(error);
      broker.log.warn({ err: error, grantId: outcome.grantId }, 'an outcome could not be stored');
      if (signal.aborted || !mayPass(error)) {
        return { result: isUnknown ? 'unknown' : 'failed', error };
      }
    }
    await broker.sleep(PAUSE_MS, signal).catch(() => undefined);
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof UpstreamError && error.system === 'database' && error.retryable;
}
