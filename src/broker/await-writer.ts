// Waits for the writer of a grant that was ordered to end while it was being issued: fenced, it undoes what it made and
// ends the grant. A writer that died is not waited for longer than its lease.
import { isBeingWritten } from '../domain/binding.ts';
import { BrokerError } from '../domain/errors.ts';
import { CONCURRENT_OPERATION } from '../domain/refusals.ts';
import { readGrantForRevocation } from '../storage/grants.ts';
import type { Broker } from './broker.ts';

/** A few looks within the tens of milliseconds that an issue takes; a notification will replace them. */
const LOOK_PAUSE_MS = 100;

/**
 * Returns when nobody is at work on the grant any more: it has ended, its undo failed, or its writer is dead.
 * @throws BrokerError `concurrent-operation` when that is not so before `signal` fires
 */
export async function awaitWriter(
  broker: Broker,
  grantId: string,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const grant = await readGrantForRevocation(broker.db, grantId);
    if (grant === undefined || !isBeingWritten(grant, broker.clock())) {
      return;
    }
    await broker.sleep(LOOK_PAUSE_MS, signal).catch(() => undefined);
    if (signal.aborted) {
      throw new BrokerError(CONCURRENT_OPERATION);
    }
  }
}
