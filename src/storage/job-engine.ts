// Wakes the runner of instance operations, on any replica, as soon as one is due. pg-boss is trusted with nothing but
// that: a job carries an operation's id, the operation's row is the truth, and a job lost or doubled does no harm.
import type { Tx } from './database.ts';

export interface WakeUp {
  readonly operationId: string;
  readonly at: Date;
}

/** Runs what is due of the operation, if anything is. What it throws is logged, and the job is tried again. */
export type WakeHandler = (operationId: string) => Promise<void>;

export interface JobEngine {
  /** Whom to wake; to be said before `start`. */
  onWake(handler: WakeHandler): void;
  /** Lays its own tables, then works. @throws UpstreamError while the database is away; may be called again */
  start(): Promise<void>;
  /** Takes no more jobs, waits for handlers that run, and closes its connections. */
  stop(): Promise<void>;
  /**
   * Has an operation's runner woken at that time, once the transaction has committed. An operation has one wake-up
   * waiting at most: a second one moves it. Before `start` it does nothing, since the pass over open operations wakes too.
   */
  wake(tx: Tx, wakeUp: WakeUp): Promise<void>;
}
