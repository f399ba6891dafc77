// Orders what is past its expiry to end, and issues that nobody works on any more: in the ledger alone, so that no
// cluster delays it. What is ordered is done by finish-revocations.ts.
import type { Broker } from '../broker/broker.ts';
import { addMs } from '../domain/clock.ts';
import {
  type MarkBatch,
  markDeadIssuesDue,
  markExpiredRevoking,
  readNextExpiry,
} from '../storage/due-grants.ts';

/** A statement that marks so many takes some tens of milliseconds, and no writer waits longer for a row of it. */
const BATCH = 500;

export interface ExpireReport {
  /** Grants that were ordered to end; what expired and issues that died. */
  readonly expired: number;
}

/** Marks until nothing is due. A repeat, or the same on another replica at the same time, marks what is left. */
export async function expireBindings(broker: Broker): Promise<ExpireReport> {
  const expired = await markAll(broker, markExpiredRevoking);
  const died = await markAll(broker, markDeadIssuesDue);
  return { expired: expired + died };
}

async function markAll(
  { db, clock }: Broker,
  mark: (tx: Broker['db'], batch: MarkBatch) => Promise<number>,
): Promise<number> {
  let total = 0;
  for (;;) {
    const marked = await mark(db, { now: clock(), limit: BATCH });
    total += marked;
    if (marked < BATCH) {
      return total;
    }
  }
}

/**
 * The longest pause between two passes. What expires is met at its time; this bounds how late it is seen that a replica
 * died, that another one issued something, or that our own clock was set.
 */
const LONGEST_PAUSE_MS = 2_000;

/** For what is past its expiry and still there after a pass: its row is being written by somebody else. */
const SHORTEST_PAUSE_MS = 50;

/** How long to wait for the next pass: until the next expiry. */
export async function untilNextExpiryMs({ db, clock }: Broker): Promise<number> {
  const horizon = addMs(clock(), LONGEST_PAUSE_MS);
  const next = (await readNextExpiry(db, horizon)) ?? horizon;
  return Math.max(SHORTEST_PAUSE_MS, next.getTime() - clock().getTime());
}
