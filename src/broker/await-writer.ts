// Waits for whoever issues a grant: for what becomes of it, or, where it was ordered to end meanwhile, until its writer,
// which finds itself fenced, has undone what it made. A writer that died is not waited for longer than its lease.
import { type Grant, isBeingWritten, issueDiesAt } from '../domain/binding.ts';
import { BrokerError } from '../domain/errors.ts';
import { CONCURRENT_OPERATION } from '../domain/refusals.ts';
import { markAwaited, readGrantForRevocation } from '../storage/grants.ts';
import type { Broker } from './broker.ts';

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
    if (signal.aborted) {
      throw new BrokerError(CONCURRENT_OPERATION);
    }
    await awaitNews(broker, grant, signal);
  }
}

/**
 * Returns when the grant, which is being issued or undone by its writer, is to be read again: something became of it,
 * its writer may have died, or `signal` has fired.
 */
export async function awaitNews(broker: Broker, grant: Grant, signal: AbortSignal): Promise<void> {
  const late = new AbortController();
  // Before the mark, since what follows the mark's commit may be announced at once.
  const news = broker.signals.wait(grant.id, {
    until: issueDiesAt(grant),
    signal: AbortSignal.any([signal, late.signal]),
  });
  try {
    if (await markAwaited(broker.db, grant.id)) {
      await news;
    }
  } finally {
    late.abort();
  }
}
