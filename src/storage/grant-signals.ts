// Tells those who wait for a grant, in this process or another, that something became of it. A signal only says "look
// again": the row is the truth, and a signal that is lost costs the time until the wait is looked after anyway. Hearing
// signals is left to a source, of which each kind of database has its own (signal-sources.ts).
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../observability/logger.ts';

const CHANNEL = 'runtime_broker_grants';

/** An update of grants whose `awaited` rows are announced when it commits; it gives back the ids that it changed. */
export function toldToWaiters(update: string): string {
  return `with changed as (${update} returning id, awaited)
  select id, case when awaited then pg_notify('${CHANNEL}', id::text) end as told from changed`;
}

/** A session that listens. */
export interface Listening {
  /** Resolves when nothing is heard any more; never rejects. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export interface SignalSource {
  /** Resolves once everything that commits from then on is heard. */
  listen(channel: string, heard: (payload: string) => void): Promise<Listening>;
}

export interface GrantSignalsOptions {
  readonly source: SignalSource;
  readonly clock: Clock;
  readonly sleep: (delayMs: number, signal?: AbortSignal) => Promise<void>;
  readonly log: Logger;
}

/** Of trying to listen again: a database that restarts is heard soon, and one that refuses is not bothered. */
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5_000;

export interface SignalWait {
  /** When to look again although nothing was heard; undefined: never. By our clock. */
  readonly until: Date | undefined;
  readonly signal: AbortSignal;
}

export class GrantSignals {
  readonly #options: GrantSignalsOptions;
  readonly #stopping = new AbortController();
  /** What wakes each waiter, by grant. */
  readonly #waiters = new Map<string, Set<() => void>>();
  #listening: Promise<void> | undefined;

  constructor(options: GrantSignalsOptions) {
    this.#options = options;
  }

  /** Listens from now on, and anew whenever the connection was lost; a repeat does nothing. */
  start(): void {
    this.#listening ??= this.#listen();
  }

  /** Ends listening for good. Waits go on until their time. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#listening;
  }

  /**
   * Waits from the moment of the call on, so that who calls first and marks the grant as awaited afterwards misses
   * nothing. Resolves on a signal for that grant, at `until`, when `signal` fires, and whenever it is not certain that
   * nothing was missed: the connection was lost, or is there again.
   */
  async wait(grantId: string, { until, signal }: SignalWait): Promise<void> {
    const { clock, sleep } = this.#options;
    const { promise: woken, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const over = new AbortController();
    this.#add(grantId, wake);
    signal.addEventListener('abort', wake, { once: true });
    if (signal.aborted) wake();
    try {
      const delayMs = until && Math.max(0, until.getTime() - clock().getTime());
      const limit =
        delayMs === undefined ? [] : [sleep(delayMs, over.signal).catch(() => undefined)];
      await Promise.race([woken, ...limit]);
    } finally {
      over.abort();
      signal.removeEventListener('abort', wake);
      this.#remove(grantId, wake);
    }
  }

  #add(grantId: string, wake: () => void): void {
    const others = this.#waiters.get(grantId);
    if (others === undefined) {
      this.#waiters.set(grantId, new Set([wake]));
    } else {
      others.add(wake);
    }
  }

  #remove(grantId: string, wake: () => void): void {
    const waiters = this.#waiters.get(grantId);
    waiters?.delete(wake);
    if (waiters?.size === 0) {
      this.#waiters.delete(grantId);
    }
  }

  #wake(grantId: string): void {
    this.#waiters.get(grantId)?.forEach((wake) => wake());
  }

  #wakeAll(): void {
    for (const grantId of this.#waiters.keys()) {
      this.#wake(grantId);
    }
  }

  async #listen(): Promise<void> {
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      failures = (await this.#listenOnce()) ? 0 : failures + 1;
      // Whoever waits looks for itself, after each try: what became of its grant meanwhile is not announced again.
      this.#wakeAll();
      const delayMs = Math.min(FIRST_DELAY_MS * 2 ** failures, LONGEST_DELAY_MS);
      await this.#options.sleep(delayMs, signal).catch(() => undefined);
    }
  }

  /** Returns when nothing is heard any more. @returns whether anything could be heard at all */
  async #listenOnce(): Promise<boolean> {
    const { source, log } = this.#options;
    const { signal } = this.#stopping;
    try {
      const listening = await source.listen(CHANNEL, (grantId) => this.#wake(grantId));
      this.#wakeAll();
      await Promise.race([listening.ended, fired(signal)]);
      await listening.close();
    } catch (err) {
      if (!signal.aborted) {
        log.warn(
          { err },
          'signals about grants cannot be heard; waits look by themselves meanwhile',
        );
      }
      return false;
    }
    if (!signal.aborted) {
      log.warn('the connection that hears signals about grants was lost; connecting again');
    }
    return true;
  }
}

async function fired(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  if (signal.aborted) resolve();
  await promise;
}
