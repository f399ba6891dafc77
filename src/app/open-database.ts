// The database of a configuration, and what else of it depends on which kind that is.
import type { DatabaseSetting } from '../config/config.ts';
import type { Logger } from '../observability/logger.ts';
import type { Db } from '../storage/database.ts';
import { type EmbeddedDatabase, openEmbedded } from '../storage/embedded.ts';
import type { SignalSource } from '../storage/grant-signals.ts';
import type { JobDatabase } from '../storage/job-engine.ts';
import { openPostgres } from '../storage/postgres.ts';
import { embeddedSignals, postgresSignals } from '../storage/signal-sources.ts';

/** A bind holds a connection for three short trips, not while it talks to a cluster; twenty serve hundreds a second. */
const MAX_CONNECTIONS = 20;

/** No statement of ours reads more than a page; what takes longer waits for a lock whose holder hangs. */
const STATEMENT_TIMEOUT_MS = 5_000;

/** A request waits no longer for a connection before it is told to come again. */
const CONNECT_TIMEOUT_MS = 3_000;

export interface OpenedDatabase {
  readonly db: Db;
  readonly jobs: JobDatabase;
  readonly signals: SignalSource;
  /** Set where the database is this process's own, so that every replica that was seen in it before is dead. */
  readonly embedded: EmbeddedDatabase | undefined;
}

/** Connects when first used; failures then are UpstreamErrors. An embedded one belongs to whoever holds its folder's lock. */
export function openDatabase(setting: DatabaseSetting, log: Logger): OpenedDatabase {
  if (setting.kind === 'embedded') {
    const embedded = openEmbedded(setting.dataFolder);
    const jobs = { kind: 'embedded', session: embedded.session } as const;
    return { db: embedded.db, jobs, signals: embeddedSignals(embedded), embedded };
  }
  const db = openPostgres(setting.url, {
    maxConnections: MAX_CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    applicationName: 'runtime-broker',
    log,
  });
  return {
    db,
    jobs: { kind: 'postgres', url: setting.url },
    signals: postgresSignals(setting.url),
    embedded: undefined,
  };
}
