// Whether this replica should get requests: its database answers, its clock agrees with the database's, and its jobs
// run (docs/api.md, "Probes"). A clock that is off endangers nothing that is fenced, but it would date what users see
// wrongly. And what operators have to know and to decide, as warnings and as figures.
import type { Broker } from '../broker/broker.ts';
import type { Gauge } from '../observability/metrics.ts';
import { readDatabaseClock } from '../storage/clock.ts';
import { countSuspectedRestores, listSuspectedRestores } from '../storage/restores.ts';

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

/** How the start went. */
export interface StartReport {
  isServing(): boolean;
  warnings(): readonly string[];
}

type Asked = Pick<Broker, 'db' | 'jobs' | 'clock' | 'sleep' | 'log'>;

/** Never throws: what fails is the answer. */
export async function readReadiness(broker: Asked, start: StartReport): Promise<Readiness> {
  const [database, restores] = await Promise.all([
    inTime(broker, compareClocks(broker), NO_ANSWER),
    start.isServing() ? inTime(broker, restoreWarnings(broker), []) : [],
  ]);
  const jobs = start.isServing() && broker.jobs.isWorking() ? 'ok' : 'failing';
  return { checks: { ...database, jobs }, warnings: [...start.warnings(), ...restores] };
}

/** Undefined while the database does not tell them. Settles as soon as a readiness check. */
export type FiguresReading = () => Promise<readonly Gauge[] | undefined>;

/** Never throws. */
export async function readFigures(
  broker: Asked,
  start: StartReport,
): Promise<readonly Gauge[] | undefined> {
  if (!start.isServing()) {
    return undefined;
  }
  return await inTime(broker, gauges(broker), undefined);
}

async function gauges({ db, log }: Asked): Promise<readonly Gauge[] | undefined> {
  try {
    return [
      {
        name: 'runtime_broker_suspected_restores',
        help: 'Clusters with grants that the database does not know, so that an older one must have been restored.',
        value: await countSuspectedRestores(db),
      },
    ];
  } catch (error) {
    log.warn({ err: error }, 'no figures: the database does not answer');
    return undefined;
  }
}

/** Enough to begin with; the next ones are named once these are confirmed. */
const NAMED_RESTORES = 5;

async function restoreWarnings({ db, log }: Asked): Promise<readonly string[]> {
  try {
    const count = await countSuspectedRestores(db);
    if (count === 0) {
      return [];
    }
    const suspected = await listSuspectedRestores(db, { limit: NAMED_RESTORES });
    const ids = suspected.map(
      ({ instanceId, clusterUid }) => instanceId ?? `cluster ${clusterUid}`,
    );
    const clusters = count === 1 ? '1 cluster has' : `${count} clusters have`;
    const more = count > ids.length ? ' and others' : '';
    return [
      `An older database seems to have been restored: ${clusters} grants that it does not know (of instances ` +
        `${ids.join(', ')}${more}). Nothing that lacks a row is removed there until an operator confirms it: ` +
        'runtime-broker confirm-restore INSTANCE --reason TEXT.',
    ];
  } catch (error) {
    log.warn({ err: error }, 'the database does not say whether an older one was restored');
    return [];
  }
}

type DatabaseChecks = Pick<Readiness['checks'], 'database' | 'clock'>;

const NO_ANSWER: DatabaseChecks = { database: 'failing', clock: 'failing' };

/** A database that is silent, and not gone, would hold the answer for as long as a statement may take. */
async function inTime<T>(broker: Asked, work: Promise<T>, otherwise: T): Promise<T> {
  const answered = new AbortController();
  const silence = async (): Promise<T> => {
    await broker.sleep(PROBE_TIMEOUT_MS, answered.signal);
    broker.log.warn({ timeoutMs: PROBE_TIMEOUT_MS }, 'not ready: the database is silent');
    return otherwise;
  };
  try {
    return await Promise.race([work, silence()]);
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
