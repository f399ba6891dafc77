// Whether this replica should get requests: its database answers, its clock agrees with the database's, and its jobs
// run. A clock that is off endangers nothing that is fenced, but it would date what users see wrongly (design 6).
import type { Broker } from '../broker/broker.ts';
import { readDatabaseClock } from '../storage/clock.ts';

/** Beyond it the replica is not ready; time services hold machines within milliseconds. */
const MAX_CLOCK_DIFFERENCE_MS = 2_000;

export type CheckResult = 'ok' | 'failing';

export interface Readiness {
  readonly checks: {
    readonly database: CheckResult;
    /** Ours and the database's agree well enough. */
    readonly clock: CheckResult;
    /** The start has got through: the schema is current, and operations are woken. */
    readonly jobs: CheckResult;
  };
  /** Sentences for operators; none of them makes the replica unready. */
  readonly warnings: readonly string[];
}

/** Settles soon whatever is away: a probe has a time limit of its own. */
export type ReadinessCheck = () => Promise<Readiness>;

/** Never throws: what fails is the answer. `isServing` tells whether the start has got through (contract 1). */
export async function readReadiness(
  broker: Pick<Broker, 'db' | 'clock' | 'log'>,
  isServing: () => boolean,
): Promise<Readiness> {
  const database = await compareClocks(broker);
  const jobs = isServing() ? 'ok' : 'failing';
  return { checks: { ...database, jobs }, warnings: [] };
}

async function compareClocks({
  db,
  clock,
  log,
}: Pick<Broker, 'db' | 'clock' | 'log'>): Promise<Pick<Readiness['checks'], 'database' | 'clock'>> {
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
    return { database: 'failing', clock: 'failing' };
  }
}
