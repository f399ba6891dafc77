// Whether this replica should get requests: its database answers, its clock agrees with the database's, and its jobs
// run. A clock that is off endangers nothing that is fenced, but it would date what users see wrongly (design 6).
import type { Broker } from '../broker/broker.ts';
import { readDatabaseClock } from '../storage/clock.ts';

/** Beyond it the replica is not ready; time services hold machines within milliseconds. */
const MAX_CLOCK_DIFFERENCE_MS = 2_000;

/** Kubernetes gives a probe one second unless told otherwise; the answer has to arrive within it. */
const PROBE_TIMEOUT_MS = 800;

export type CheckResult = 'ok' | 'failing';

export interface Readiness {
  readonly checks: {
    readonly database: CheckResult;
    /** Ours and the database's agree well enough. */
    readonly clock: CheckResult;
    /** The start has got through, and the engine that wakes operations runs. */
    readonly jobs: CheckResult;
  };
  /** Sentences for operators; none of them makes the replica unready. */
  readonly warnings: readonly string[];
}

/** Settles soon whatever is away: a probe has a time limit of its own. */
export type ReadinessCheck = () => Promise<Readiness>;

/** How the start went (contract 1). */
export interface StartReport {
  isServing(): boolean;
  warnings(): readonly string[];
}

type Asked = Pick<Broker, 'db' | 'jobs' | 'clock' | 'sleep' | 'log'>;

/** Never throws: what fails is the answer. */
export async function readReadiness(broker: Asked, start: StartReport): Promise<Readiness> {
  const database = await compareClocksInTime(broker);
  const jobs = start.isServing() && broker.jobs.isWorking() ? 'ok' : 'failing';
  return { checks: { ...database, jobs }, warnings: start.warnings() };
}

type DatabaseChecks = Pick<Readiness['checks'], 'database' | 'clock'>;

const NO_ANSWER: DatabaseChecks = { database: 'failing', clock: 'failing' };

/** A database that is silent, and not gone, would hold the answer for as long as a statement may take. */
async function compareClocksInTime(broker: Asked): Promise<DatabaseChecks> {
  const answered = new AbortController();
  const silence = async (): Promise<DatabaseChecks> => {
    await broker.sleep(PROBE_TIMEOUT_MS, answered.signal);
    broker.log.warn({ timeoutMs: PROBE_TIMEOUT_MS }, 'not ready: the database is silent');
    return NO_ANSWER;
  };
  try {
    return await Promise.race([compareClocks(broker), silence()]);
  } finally {
    answered.abort();
  }
}

async function compareClocks({ db, clock, log }: Asked): Promise<DatabaseChecks> {
  try {
    const asked = clock().getTime();
    const theirs = (await readDatabaseClock(db)).getTime();
    const answered = clock().getTime();
    // Their time was read somewhere between our two: only what lies outside of both is a difference.
    const ahead = Math.max(0, theirs - answered);
    const behind = Math.max(0, asked - theirs);
    const agrees = Math.max(ahead, behind) <= MAX_CLOCK_DIFFERENCE_MS;
    return { database: 'ok', clock: agrees ? 'ok' : 'failing' };
  } catch (error) {
    log.warn({ err: error }, 'not ready: the database does not answer');
    return NO_ANSWER;
  }
}
