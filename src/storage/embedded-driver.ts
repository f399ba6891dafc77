// Kysely on PGlite, the PostgreSQL inside this process. Each connection that is handed out keeps its own transaction,
// and PGlite lets nothing else run while one is open; errors come back as failures.ts names them.
import type { PGlite, Transaction } from '@electric-sql/pglite';
import type {
  CompiledQuery,
  DatabaseConnection,
  Driver,
  QueryResult,
  TransactionSettings,
} from 'kysely';
import { type DatabaseAction, databaseFailure } from './failures.ts';

export interface EmbeddedSession {
  /** Opens the database when it is first asked; a repeat answers the same, failures included. */
  open(): Promise<PGlite>;
  /** Waits for what runs, then closes; what comes later fails. */
  close(): Promise<void>;
}

export class EmbeddedDriver implements Driver {
  readonly #session: EmbeddedSession;

  constructor(session: EmbeddedSession) {
    this.#session = session;
  }

  async init(): Promise<void> {
    await this.#session.open();
  }

  async acquireConnection(): Promise<EmbeddedConnection> {
    return new EmbeddedConnection(await this.#session.open());
  }

  async beginTransaction(
    connection: EmbeddedConnection,
    { isolationLevel = 'read committed' }: TransactionSettings,
  ): Promise<void> {
    if (isolationLevel !== 'read committed') {
      throw new Error(`the embedded database is not used at isolation level ${isolationLevel}`);
    }
    await connection.begin();
  }

  async commitTransaction(connection: EmbeddedConnection): Promise<void> {
    await connection.commit();
  }

  async rollbackTransaction(connection: EmbeddedConnection): Promise<void> {
    await connection.rollback();
  }

  /** Nothing to give back: there is one session, and Kysely lends it to one at a time. */
  releaseConnection(): Promise<void> {
    return Promise.resolve();
  }

  async destroy(): Promise<void> {
    await this.#session.close();
  }
}

interface OpenTransaction {
  readonly handle: Transaction;
  /** Resolved it commits, rejected it rolls back. */
  readonly end: PromiseWithResolvers<void>;
  readonly over: Promise<void>;
  /** After a failed statement PostgreSQL answers a commit with a rollback, and PGlite says nothing of it. */
  hasFailed: boolean;
}

class EmbeddedConnection implements DatabaseConnection {
  readonly #pglite: PGlite;
  #transaction: OpenTransaction | undefined;

  constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const transaction = this.#transaction;
    try {
      const target = transaction?.handle ?? this.#pglite;
      const { rows, affectedRows } = await target.query<R>(sql, [...parameters]);
      return READS.test(sql) || affectedRows === undefined
        ? { rows }
        : { rows, numAffectedRows: BigInt(affectedRows) };
    } catch (error) {
      if (transaction !== undefined) transaction.hasFailed = true;
      throw databaseFailure(error, this.#actionOf(sql));
    }
  }

  streamQuery(): never {
    throw new Error('results are read as a whole: lists of ours come in pages');
  }

  async begin(): Promise<void> {
    const begun = Promise.withResolvers<Transaction>();
    const end = Promise.withResolvers<void>();
    const over = this.#pglite.transaction(async (handle) => {
      begun.resolve(handle);
      await end.promise;
    });
    over.catch(begun.reject);
    try {
      this.#transaction = { handle: await begun.promise, end, over, hasFailed: false };
    } catch (error) {
      throw databaseFailure(error, 'begin transaction');
    }
  }

  async commit(): Promise<void> {
    const transaction = this.#transaction;
    if (transaction?.hasFailed === true) {
      await this.rollback();
      throw new Error('the transaction was rolled back: a statement in it had failed unnoticed');
    }
    this.#transaction = undefined;
    try {
      transaction?.end.resolve();
      await transaction?.over;
    } catch (error) {
      throw databaseFailure(error, 'commit transaction');
    }
  }

  /** Never fails: what is to be told is why it was rolled back. */
  async rollback(): Promise<void> {
    const transaction = this.#transaction;
    this.#transaction = undefined;
    transaction?.end.reject(new Error('rolled back'));
    await transaction?.over.catch(() => undefined);
  }

  #actionOf(sql: string): DatabaseAction {
    if (READS.test(sql)) {
      return 'read rows';
    }
    return this.#transaction === undefined ? 'commit statement' : 'write rows';
  }
}

const READS = /^\s*select\b/i;
