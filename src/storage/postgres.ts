// Opens PostgreSQL: a pool whose limits are set, read by the same rules as the embedded database. What travels over a
// connection is postgres-driver.ts's business.
import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import pg from 'pg';
import type { Secret } from '../domain/secret.ts';
import type { Logger } from '../observability/logger.ts';
import type { Db, Schema } from './database.ts';
import { PostgresDriver } from './postgres-driver.ts';

export interface PostgresOptions {
  readonly maxConnections: number;
  /** What a statement may take, waiting for locks included. */
  readonly statementTimeoutMs: number;
  /** What getting a connection may take, waiting for a free one included. */
  readonly connectTimeoutMs: number;
  readonly applicationName: string;
  readonly log: Logger;
}

/** The server ends a statement by itself; one that is not even told so by then has lost its server. */
const ANSWER_MARGIN_MS = 2_000;

/** No transaction of ours waits for anything but the database: one this idle belongs to a process that hangs. */
const IDLE_IN_TRANSACTION_MS = 10_000;

/** Shorter than what firewalls commonly allow a silent connection. */
const KEEP_ALIVE_MS = 30_000;

/** Two connections a second must not cost two handshakes a second. */
const IDLE_CONNECTION_MS = 60_000;

/** Dates are parsed in one form, whatever the server prefers. */
const SESSION_OPTIONS = '-c datestyle=ISO';

/**
 * Connects when first used, and anew whenever a connection was lost: a server that is away at start or later fails
 * statements with UpstreamError until it is back. `destroy()` of what is returned closes the pool.
 */
export function openPostgres(url: Secret, options: PostgresOptions): Db {
  const fault = databaseUrlFault(url);
  if (fault !== undefined) {
    throw new Error(`the URL of the database is ${fault}`);
  }
  const pool = new pg.Pool({
    connectionString: url.reveal(),
    max: options.maxConnections,
    application_name: options.applicationName,
    statement_timeout: options.statementTimeoutMs,
    query_timeout: options.statementTimeoutMs + ANSWER_MARGIN_MS,
    connectionTimeoutMillis: options.connectTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    options: SESSION_OPTIONS,
    types: { getTypeParser },
  });
  pool.on('error', (err) => {
    options.log.warn({ err }, 'an idle connection to the database was lost');
  });
  // A connection in use tells its loss by the statement that fails; without a listener the event would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new PostgresDriver(pool),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

/**
 * Whether the driver takes a URL, known before the first statement.
 * @returns what is wrong with it, as a noun phrase; without the driver's own words, which quote the URL and with it,
 *   maybe, a password
 */
export function databaseUrlFault(url: Secret): string | undefined {
  try {
    return new pg.Client({ connectionString: url.reveal() }).host === ''
      ? 'a URL without a host'
      : undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    return `a URL that the PostgreSQL driver does not take${code}`;
  }
}

/** Counts fit a number; the driver's default, a string, would add up as text. Per pool, since its defaults are global. */
function getTypeParser(id: number, format?: 'text' | 'binary'): (value: string) => unknown {
  return id === pg.types.builtins.INT8
    ? toSafeNumber
    : (pg.types.getTypeParser(id, format) as (value: string) => unknown);
}

/** As PGlite does it. */
function toSafeNumber(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}
