// Wakes operations that are due and that nobody works on: their job was lost with a process, or with the queue. The
// rows are the truth; a job that is woken twice finds the operation claimed.
import type { Broker } from '../broker/broker.ts';
import { listOpenOperations } from '../storage/operations.ts';

/** A pass is bounded; what is left is found by the next one. */
const OPERATIONS_A_PASS = 100;

export interface WakeReport {
  readonly woken: number;
}

export async function wakeOperations(broker: Broker): Promise<WakeReport> {
  const open = await listOpenOperations(broker.db, {
    now: broker.clock(),
    limit: OPERATIONS_A_PASS,
  });
  for (const { id, nextRunAt } of open) {
    await broker.jobs.wake(broker.db, { operationId: id, at: nextRunAt });
  }
  return { woken: open.length };
}
