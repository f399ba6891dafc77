// The database of a configuration.
import type { Config } from '../config/config.ts';
import type { Logger } from '../observability/logger.ts';
import type { Db } from '../storage/database.ts';
import { openPostgres } from '../storage/postgres.ts';

/** A bind holds a connection for three short trips, not while it talks to a cluster; twenty serve hundreds a second. */
const MAX_CONNECTIONS = 20;

/** No statement of ours reads more than a page; what takes longer waits for a lock whose holder hangs. */
const STATEMENT_TIMEOUT_MS = 5_000;

/** A request waits no longer for a connection before it is told to come again. */
const CONNECT_TIMEOUT_MS = 3_000;

/** Connects when first used; failures then are UpstreamErrors. */
export function openDatabase({ databaseUrl }: Pick<Config, 'databaseUrl'>, log: Logger): Db {
  return openPostgres(databaseUrl, {
    maxConnections: MAX_CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    applicationName: 'runtime-broker',
    log,
  });
}
