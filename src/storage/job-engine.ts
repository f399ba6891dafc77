// Wakes the runner of instance operations, on any replica, as soon as one is due. pg-boss is trusted with nothing but
// that: a job carries an operation's id, the operation's row is the truth, and a job lost or doubled does no harm.
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConstructorOptions, fromKysely, fromPglite, PgBoss, type PGliteLike } from 'pg-boss';
import type { Clock } from '../domain/clock.ts';
import type { Secret } from '../domain/secret.ts';
import type { Logger } from '../observability/logger.ts';
import type { Tx } from './database.ts';
import { databaseFailure } from './failures.ts';

export interface WakeUp {
  readonly operationId: string;
  readonly at: Date;
}

/** Runs what is due of the operation, if anything is. What it throws is logged, and the job is tried again. */
export type WakeHandler = (operationId: string) => Promise<void>;

/** Where the jobs lie: in the database of the operations that they wake. */
export type JobDatabase =
  | { readonly kind: 'postgres'; readonly url: Secret }
  | { readonly kind: 'embedded'; readonly session: PGliteLike };

export interface JobEngineOptions {
  readonly database: JobDatabase;
  /** The one that the times of wake-ups are of. */
  readonly clock: Clock;
  /** What `stop` gives handlers that run. */
  readonly stopTimeoutMs: number;
  readonly log: Logger;
}

const QUEUE = 'wake-operation';

/** Each asks the database every few seconds, busy or not, so they are few. */
const WORKERS = 5;

/**
 * How long a worker waits for the run that it has woken. Most steps take less; one that waits for a silent system goes
 * on by itself, so that twenty of those delay a healthy one by four of these and not by minutes. Its job is done with:
 * should the process die, the lease of the operation lapses, and the pass over open operations wakes it.
 */
const WAIT_FOR_RUN_MS = 1_000;

/** Runs that go on by themselves: a few connections and some memory each. Beyond it, workers wait for their runs. */
const MAX_LEFT_RUNNING = 100;

/**
 * Jobs that are due at once are announced by the database. This is how late those that were put off are found, since
 * nothing announces that their time has come.
 */
const POLLING_SECONDS = 2;

/** pg-boss's default of two retries and 15 minutes would let a runtime that takes an hour be forgotten silently. */
const QUEUE_OPTIONS = {
  notify: true,
  retryLimit: 1_000,
  retryDelay: 2,
  retryBackoff: true,
  retryDelayMax: 60,
  /** A handler ends within the time limits of its step; one that does not has died with its process. */
  expireInSeconds: 15 * 60,
  /** From the time it is due: by then the pass over open operations has woken the operation many times. */
  retentionSeconds: 24 * 60 * 60,
  deleteAfterSeconds: 60 * 60,
};

const WORK_OPTIONS = {
  localConcurrency: WORKERS,
  pollingIntervalSeconds: POLLING_SECONDS,
  notifyPollingIntervalSeconds: POLLING_SECONDS,
};

interface WakeJob {
  readonly operationId: string;
}

/** For workers, upkeep and statements beside them; the listener has a connection of its own on top. */
const MAX_CONNECTIONS = 3;

/** A statement of upkeep may be slow; one that takes longer has lost its server, and with it would hang a worker. */
const STATEMENT_MS = 60_000;

const CONNECT_MS = 10_000;

/** While the database is away, each worker fails every few seconds, with the same words. */
const SAME_FAULT_MS = 60_000;

export class JobEngine {
  readonly #boss: PgBoss;
  readonly #options: JobEngineOptions;
  readonly #running = new Set<Promise<boolean>>();
  #wakeHandler: WakeHandler | undefined;
  #isWorking = false;

  constructor(options: JobEngineOptions) {
    this.#options = options;
    this.#boss = openBoss(options);
    this.#boss.on('stopped', () => {
      this.#isWorking = false;
    });
  }

  /** Whom to wake; to be said before `start`. */
  onWake(handler: WakeHandler): void {
    this.#wakeHandler = handler;
  }

  /** Lays its own tables, then works. @throws UpstreamError while the database is away; may be called again then */
  async start(): Promise<void> {
    if (this.#isWorking) {
      return;
    }
    try {
      await this.#boss.start();
      await this.#boss.createQueue(QUEUE, QUEUE_OPTIONS);
      // For a queue that an earlier release made.
      await this.#boss.updateQueue(QUEUE, QUEUE_OPTIONS);
      await this.#boss.work<WakeJob>(QUEUE, WORK_OPTIONS, async (jobs) => {
        const done = await Promise.all(jobs.map(({ data }) => this.#handle(data.operationId)));
        if (done.includes(false)) {
          // Not the error itself: pg-boss stores what it is thrown.
          throw new Error('the operation could not be run; the log says why');
        }
      });
    } catch (error) {
      throw databaseFailure(error, 'open connection');
    }
    this.#isWorking = true;
  }

  /** Whether jobs are taken: since `start` has got through, until `stop` or the engine's own end. */
  isWorking(): boolean {
    return this.#isWorking;
  }

  /** Takes no more jobs, waits for handlers that run, within limits, and closes the connections it has opened. */
  async stop(): Promise<void> {
    this.#isWorking = false;
    const { stopTimeoutMs, log } = this.#options;
    const overdue = new AbortController();
    const timeout = sleep(stopTimeoutMs, undefined, { signal: overdue.signal });
    try {
      await this.#boss.stop({ graceful: true, timeout: stopTimeoutMs });
      await Promise.race([Promise.all(this.#running), timeout.catch(() => undefined)]);
    } catch (err) {
      log.warn({ err }, 'the job engine did not stop in order');
    } finally {
      overdue.abort();
      await timeout.catch(() => undefined);
    }
  }

  /**
   * Has an operation's runner woken at that time, once the transaction has committed. An operation has one wake-up
   * waiting at most, and a second one moves it. Before `start` it does nothing: the pass over open operations wakes too.
   */
  async wake(tx: Tx, { operationId, at }: WakeUp): Promise<void> {
    if (!this.#isWorking) {
      return;
    }
    // As a delay, since the time is of our clock and pg-boss goes by the database's.
    const delayMs = at.getTime() - this.#options.clock().getTime();
    const job: WakeJob = { operationId };
    await this.#boss.upsert(QUEUE, job, {
      db: fromKysely(tx),
      singletonKey: operationId,
      startAfter: Math.max(0, delayMs / 1000),
    });
  }

  /** @returns whether the job is done with: the operation was run, or goes on to be */
  async #handle(operationId: string): Promise<boolean> {
    const run = this.#run(operationId).finally(() => this.#running.delete(run));
    this.#running.add(run);
    if (this.#running.size > MAX_LEFT_RUNNING) {
      return await run;
    }
    const ended = new AbortController();
    const patience = sleep(WAIT_FOR_RUN_MS, true, { signal: ended.signal }).catch(() => true);
    try {
      return await Promise.race([run, patience]);
    } finally {
      ended.abort();
    }
  }

  /** @returns whether the handler has got through; never rejects */
  async #run(operationId: string): Promise<boolean> {
    try {
      await this.#wakeHandler?.(operationId);
      return true;
    } catch (err) {
      const { log } = this.#options;
      log.error({ err, operationId }, 'an operation could not be run; it is woken again');
      return false;
    }
  }
}

function openBoss(options: JobEngineOptions): PgBoss {
  const boss = new PgBoss({
    ...connectionOf(options.database),
    useListenNotify: true,
    // No times of day, no registry of processes: nothing of ours reads them.
    schedule: false,
    registerInstance: false,
  });
  const report = quietReporter(options);
  boss.on('error', (error) => report('the job engine has trouble', error));
  boss.on('warning', ({ message }) => {
    options.log.warn({ warning: message }, 'the job engine warns');
  });
  return boss;
}

function connectionOf(database: JobDatabase): ConstructorOptions {
  if (database.kind === 'embedded') {
    // Rebuilding indexes beside their readers needs a second session, and nothing vacuums by itself in one.
    const upkeep = { reindex: false, monitorVacuum: false };
    return { backend: 'pglite', db: fromPglite(database.session), ...upkeep };
  }
  // Settings of the driver that pg-boss passes on without naming them in its types.
  const driver = { query_timeout: STATEMENT_MS, keepAlive: true };
  return {
    ...driver,
    connectionString: database.url.reveal(),
    application_name: 'runtime-broker jobs',
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
  };
}

/** Tells a fault once, and again only when it is another one or has gone on for a while. */
function quietReporter({ clock, log }: JobEngineOptions) {
  let last = { message: '', at: 0 };
  return (text: string, err: Error): void => {
    const now = clock().getTime();
    if (err.message === last.message && now - last.at < SAME_FAULT_MS) {
      return;
    }
    last = { message: err.message, at: now };
    log.warn({ err }, text);
  };
}
