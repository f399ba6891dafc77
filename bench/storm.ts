// A storm of expiry: thousands of bindings on hundreds of clusters expire within a minute, two of the clusters are
// silent and one is slow. Prints how long after its expiry each was revoked, and what the broker took for it.
//
//   node bench/storm.ts [--bindings 10000] [--clusters 200] [--minutes 1]
//
// The bindings are issued by the broker itself, on sandbox clusters in a process beside it and on a PostgreSQL that is
// started for it; then their expiry is moved in the ledger, since no cluster grants less than ten minutes.
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { compose, type Composition } from '../src/app/compose.ts';
import { JUDGES } from '../src/app/configured.ts';
import { start } from '../src/app/lifecycle.ts';
import type { Broker } from '../src/broker/broker.ts';
import { createBinding } from '../src/broker/create-binding.ts';
import { createInstance } from '../src/broker/create-instance.ts';
import { readConfig } from '../src/config/read-config.ts';
import { createLogger } from '../src/observability/logger.ts';
import { findInstance } from '../src/storage/instances.ts';
import { findParts, thisMachine } from '../tests/support/real-parts/find.ts';
import { type Postgres, startPostgres } from '../tests/support/real-parts/postgres.ts';
import type { Order, Report } from './storm-clusters.ts';

const SERVICE_ID = '47c9dcbf-ff30-448e-ab36-d3bad66ba281';
const OWN_CLUSTER_PLAN_ID = '03e3cb66-a4c6-4c6a-b4b0-5d42224debea';

const DEAD_CLUSTERS = 2;

/** Of each of its answers: a grant takes it three of them. */
const SLOW_ANSWER_MS = 1_000;

/** Between the end of the preparation and the first expiry. */
const LULL_MS = 5_000;

/** What the issue asks of a binding that is reachable. */
const PROMISED_SECONDS = 60;

/** Requests in flight while the bindings are issued: what two cores have use for. */
const ISSUES_AT_ONCE = 16;

interface Storm {
  readonly bindings: number;
  readonly clusters: number;
  readonly spreadMs: number;
}

function stormOfArguments(): Storm {
  const { values } = parseArgs({
    options: {
      bindings: { type: 'string', default: '10000' },
      clusters: { type: 'string', default: '200' },
      minutes: { type: 'string', default: '1' },
    },
  });
  return {
    bindings: Number(values.bindings),
    clusters: Number(values.clusters),
    spreadMs: Number(values.minutes) * 60_000,
  };
}

class Clusters {
  readonly #process: ChildProcess;

  constructor() {
    this.#process = fork(resolve(import.meta.dirname, 'storm-clusters.ts'));
  }

  async tell(order: Order): Promise<Report> {
    this.#process.send(order);
    const [report] = (await once(this.#process, 'message')) as [Report];
    return report;
  }

  stop(): void {
    this.#process.disconnect();
  }
}

function composeBroker(databaseUrl: string, maxLive: number): Composition {
  const key = randomBytes(32).toString('base64');
  const env = {
    RUNTIME_BROKER_LISTEN: '127.0.0.1:0',
    RUNTIME_BROKER_OPERATOR_LISTEN: '127.0.0.1:0',
    DATABASE_URL: databaseUrl,
    RUNTIME_BROKER_PASSWORD: randomBytes(18).toString('base64url'),
    RUNTIME_BROKER_SEALING_KEYS: `storm:${key}`,
    RUNTIME_BROKER_CONFIG: 'storm.yaml',
  };
  const file = `plans: { own_cluster: { binding: { maxLive: ${maxLive} } } }`;
  const read = readConfig(env, () => file, JUDGES);
  if (!read.ok) throw new Error(JSON.stringify(read.faults));
  const log = createLogger({ level: 'warn', format: 'json' }, { write: () => undefined });
  return compose(read.config, { log });
}

/** Runs `work` on each item, so many at a time. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: ISSUES_AT_ONCE }, worker));
}

async function attach(broker: Broker, name: string, kubeconfig: string): Promise<void> {
  await createInstance(broker, {
    instanceId: name,
    serviceId: SERVICE_ID,
    planId: OWN_CLUSTER_PLAN_ID,
    acceptsIncomplete: true,
    parameters: { kubeconfig },
    accounts: {},
    platformRegion: 'cf-eu10',
    maintenanceVersion: undefined,
  });
  while ((await findInstance(broker.db, name))?.latest.state !== 'succeeded') await sleep(50);
}

async function bind(broker: Broker, instanceId: string): Promise<void> {
  await createBinding(broker, {
    instanceId,
    bindingId: randomUUID(),
    serviceId: SERVICE_ID,
    planId: OWN_CLUSTER_PLAN_ID,
    expirationSeconds: 7200,
    createdBy: 'the storm',
  });
}

/** Deals the expiries out over the spread, in an order that has nothing to do with the clusters. */
async function setExpiries({ db }: Broker, { spreadMs }: Storm): Promise<Date> {
  const from = new Date(Date.now() + LULL_MS);
  await sql`
    with dealt as (
      select id, row_number() over (order by md5(id::text)) - 1 as turn, count(*) over () as total
      from grants
    )
    update grants set expires_at = at, next_try_at = at from (
      select id, ${from}::timestamptz + turn * (${spreadMs}::float8 / total) * interval '1 ms' as at
      from dealt
    ) as moved where grants.id = moved.id
  `.execute(db);
  return new Date(from.getTime() + spreadMs);
}

interface Lags {
  readonly kind: string;
  readonly grants: number;
  readonly revoked: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly longest: number | null;
}

async function readLags({ db }: Broker): Promise<readonly Lags[]> {
  const { rows } = await sql<Lags>`
    select case when i.id in ('c-0', 'c-1') then 'silent' when i.id = 'c-2' then 'slow'
      else 'healthy' end as kind,
      count(*)::int as grants, count(g.ended_at)::int as revoked,
      percentile_cont(0.5) within group (order by lag) as p50,
      percentile_cont(0.99) within group (order by lag) as p99,
      max(lag) as longest
    from grants g join instances i on i.key = g.instance_key
    cross join lateral (select extract(epoch from g.ended_at - g.expires_at)::float8 as lag) l
    group by 1 order by 1
  `.execute(db);
  return rows;
}

function isOver(lags: readonly Lags[]): boolean {
  return lags.every(({ kind, grants, revoked }) => kind === 'silent' || grants === revoked);
}

/** Often enough for figures to the second; each look reads all grants. */
const LOOK_EVERY_MS = 1_000;

const TELL_EVERY_MS = 10_000;

function tenths(number: number): string {
  return number.toFixed(1);
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}

async function prepare(broker: Broker, clusters: Clusters, storm: Storm): Promise<void> {
  const names = Array.from({ length: storm.clusters }, (_, at) => `c-${at}`);
  const opened = await clusters.tell({ kind: 'open', names });
  if (opened.kind !== 'opened') throw new Error('the clusters were not opened');
  await each([...names.entries()], ([at, name]) =>
    attach(broker, name, opened.kubeconfigs[at] ?? ''),
  );
  const startedAt = performance.now();
  const turns = Array.from({ length: storm.bindings }, (_, at) => at % storm.clusters);
  await each(turns, (at) => bind(broker, names[at] ?? ''));
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    `${storm.bindings} bindings issued on ${names.length} clusters in ${tenths(seconds)} s`,
  );
}

async function misbehave(clusters: Clusters): Promise<void> {
  for (let at = 0; at < DEAD_CLUSTERS; at += 1) {
    await clusters.tell({ kind: 'misbehave', name: `c-${at}`, act: { kind: 'hang' } });
  }
  const act = { kind: 'delay', ms: SLOW_ANSWER_MS } as const;
  await clusters.tell({ kind: 'misbehave', name: `c-${DEAD_CLUSTERS}`, act });
}

/** @returns the most memory that the process was seen to have */
async function watch(broker: Broker, lastExpiry: Date): Promise<number> {
  const giveUpAt = lastExpiry.getTime() + 3 * PROMISED_SECONDS * 1000;
  let peak = 0;
  let toldAt = 0;
  for (;;) {
    peak = Math.max(peak, process.memoryUsage.rss());
    const lags = await readLags(broker);
    if (isOver(lags) || Date.now() > giveUpAt) return peak;
    if (Date.now() - toldAt > TELL_EVERY_MS) {
      toldAt = Date.now();
      const revoked = lags.reduce((sum, kind) => sum + kind.revoked, 0);
      console.log(`  ${revoked} revoked, ${megabytes(process.memoryUsage.rss())}`);
    }
    await sleep(LOOK_EVERY_MS);
  }
}

function tell(lags: readonly Lags[]): void {
  console.log('\nclusters  bindings  revoked   p50      p99      longest after its expiry');
  for (const { kind, grants, revoked, p50, p99, longest } of lags) {
    const times = [p50, p99, longest].map((time) =>
      (time === null ? '-' : `${time.toFixed(2)} s`).padEnd(9),
    );
    const counts = [String(grants).padEnd(10), String(revoked).padEnd(10)];
    console.log(`${kind.padEnd(10)}${counts.join('')}${times.join('')}`);
  }
}

async function run(storm: Storm, database: Postgres): Promise<boolean> {
  const clusters = new Clusters();
  const composition = composeBroker(database.url, Math.ceil(storm.bindings / storm.clusters));
  const { broker } = composition;
  const running = await start(composition);
  await running.serving;
  try {
    await prepare(broker, clusters, storm);
    const before = process.memoryUsage.rss();
    await misbehave(clusters);
    const cpuBefore = process.cpuUsage();
    const lastExpiry = await setExpiries(broker, storm);
    const peak = await watch(broker, lastExpiry);
    const cpu = process.cpuUsage(cpuBefore);
    const lags = await readLags(broker);
    tell(lags);
    const ended = await clusters.tell({ kind: 'end' });
    const theirs = ended.kind === 'ended' ? tenths(ended.cpuSeconds) : '?';
    console.log(`\nmemory: ${megabytes(before)} before, ${megabytes(peak)} at most`);
    console.log(
      `CPU: ${tenths((cpu.user + cpu.system) / 1e6)} s of the broker for it; ${theirs} s of all clusters, issuing included`,
    );
    return isKept(lags);
  } finally {
    await running.stop();
    clusters.stop();
  }
}

function isKept(lags: readonly Lags[]): boolean {
  return (
    isOver(lags) &&
    lags.every(({ kind, longest }) => kind === 'silent' || (longest ?? 0) <= PROMISED_SECONDS)
  );
}

const storm = stormOfArguments();
const { postgresBinaries } = findParts(thisMachine(process.env));
if (!postgresBinaries.found) throw new Error(`no PostgreSQL: ${postgresBinaries.howToGet}`);
const database = await startPostgres(postgresBinaries.path);
try {
  const kept = await run(storm, database);
  console.log(
    `\n${kept ? 'Kept' : 'NOT KEPT'}: every reachable binding revoked within ${PROMISED_SECONDS} s of its expiry`,
  );
  process.exitCode = kept ? 0 : 1;
} finally {
  await database.stop();
}
