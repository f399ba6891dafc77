// What went wrong with the database: a system that is away, slow or stopping becomes an UpstreamError; a violated
// constraint and a statement that is wrong stay what they are, since they are bugs or are expected by the function that
// ran the statement.
import { UpstreamError, type UpstreamReason } from '../domain/errors.ts';

export type DatabaseAction =
  | 'open connection'
  | 'begin transaction'
  | 'read rows'
  | 'write rows'
  | 'commit transaction'
  /** A write outside a transaction, which commits on its own. */
  | 'commit statement';

/** A standby: after a failover the connection leads to a server that only reads. */
const READ_ONLY = '25006';

/** SQLSTATEs, or their class by its first two characters (PostgreSQL, appendix A). */
const REASON_BY_SQLSTATE: Readonly<Record<string, UpstreamReason>> = {
  '08': 'cut',
  // Serialization failure and deadlock: rolled back as a whole, so the same may work the next time.
  '40': 'server-error',
  // Insufficient resources: disk full, out of memory …
  '53': 'server-error',
  '53300': 'too-many-requests',
  '28': 'unauthorized',
  '3D000': 'not-found',
  // A table or its schema: not migrated, or restored without it.
  '3F000': 'not-found',
  '42P01': 'not-found',
  // Idle in transaction for too long.
  '25P03': 'cut',
  [READ_ONLY]: 'server-error',
  '55P03': 'timed-out',
  '57014': 'timed-out',
  '57P01': 'cut',
  '57P02': 'cut',
  '57P03': 'unreachable',
  '57P04': 'cut',
  '57P05': 'cut',
  // The server's own trouble: input and output, internal errors.
  '58': 'server-error',
  XX: 'server-error',
};

const REASON_BY_SYSTEM_ERROR: Readonly<Record<string, UpstreamReason>> = {
  ECONNREFUSED: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ENOENT: 'unreachable',
  EMFILE: 'unreachable',
  ENFILE: 'unreachable',
  ETIMEDOUT: 'timed-out',
  ECONNRESET: 'cut',
  ECONNABORTED: 'cut',
  EPIPE: 'cut',
};

/** The drivers tell these by words alone (pg 8.23: client.js, connection.js; pg-pool 3: index.js; PGlite 0.5: pglite.ts). */
const REASON_BY_MESSAGE: readonly (readonly [RegExp, UpstreamReason])[] = [
  [/^timeout exceeded when trying to connect$/, 'timed-out'],
  [/^Connection terminated due to connection timeout$/, 'timed-out'],
  [/^timeout expired$/, 'timed-out'],
  [/^Query read timeout$/, 'timed-out'],
  [/^Connection terminated/, 'cut'],
  [/^Client (has encountered a connection error|was closed) and is not queryable$/, 'cut'],
  [/^Cannot use a pool after calling end on the pool$/, 'cancelled'],
  [/^PGlite is clos(ed|ing)$/, 'cancelled'],
  [/SSL connection/, 'tls'],
];

/** Codes of Node's TLS and of certificates that do not convince. */
const TLS_CODE = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** @returns an UpstreamError where the database failed; any other error as it came. */
export function databaseFailure(error: unknown, action: DatabaseAction): unknown {
  if (!(error instanceof Error) || error instanceof UpstreamError) {
    return error;
  }
  const reason = reasonOf(error);
  if (reason === undefined) {
    return error;
  }
  return new UpstreamError(
    { system: 'database', action, reason, detail: describe(error) },
    { cause: error },
  );
}

function reasonOf(error: Error): UpstreamReason | undefined {
  const code = codeOf(error);
  if (code === undefined) {
    return REASON_BY_MESSAGE.find(([pattern]) => pattern.test(error.message))?.[1];
  }
  if (TLS_CODE.test(code)) {
    return 'tls';
  }
  return (
    REASON_BY_SYSTEM_ERROR[code] ?? REASON_BY_SQLSTATE[code] ?? REASON_BY_SQLSTATE[code.slice(0, 2)]
  );
}

function codeOf(error: Error): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** A name with several addresses fails with one error for each, and no message of its own. */
function describe(error: Error): string {
  const message =
    error instanceof AggregateError
      ? error.errors.map((each: unknown) => (each instanceof Error ? each.message : '')).join('; ')
      : error.message;
  return message === '' ? (codeOf(error) ?? error.name) : message;
}

/** Whether a connection that failed like this is of no more use. */
export function endsConnection(failure: unknown): boolean {
  if (!(failure instanceof UpstreamError)) {
    return false;
  }
  const state = sqlStateOf(failure);
  return (
    failure.reason === 'cut' ||
    failure.reason === 'unreachable' ||
    // Ended by our own clock: the answer may still come, and would be taken for that of the next statement.
    (failure.reason === 'timed-out' && state === undefined) ||
    state === READ_ONLY
  );
}

/**
 * Whether what was to be committed may have been committed all the same: the connection went away between the order
 * and the answer. Whoever decides on the result reads it again first.
 */
export function commitOutcomeIsUnknown(error: unknown): boolean {
  return (
    error instanceof UpstreamError &&
    error.system === 'database' &&
    error.action.startsWith('commit') &&
    // A time limit of the server's own is one it has rolled back for.
    (error.reason === 'cut' || (error.reason === 'timed-out' && sqlStateOf(error) === undefined))
  );
}

function sqlStateOf({ cause }: UpstreamError): string | undefined {
  const code = cause instanceof Error ? codeOf(cause) : undefined;
  return code !== undefined && SQLSTATE.test(code) ? code : undefined;
}

const SQLSTATE = /^[0-9A-Z]{5}$/;
