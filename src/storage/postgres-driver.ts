// Kysely on pg's pool. Statements go out under names, so that each connection has the server parse them once; errors
// come back as failures.ts names them, told apart by whether they left the outcome of a commit open.
import { createHash } from 'node:crypto';
import type {
  CompiledQuery,
  DatabaseConnection,
  Driver,
  QueryResult,
  TransactionSettings,
} from 'kysely';
import type pg from 'pg';
import { type DatabaseAction, databaseFailure, endsConnection } from './failures.ts';

export class PostgresDriver implements Driver {
  readonly #pool: pg.Pool;
  readonly #names = new StatementNames();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Nothing to prepare: the pool connects when it is first asked. */
  init(): Promise<void> {
    return Promise.resolve();
  }

  async acquireConnection(): Promise<PostgresConnection> {
    try {
      return new PostgresConnection(await this.#pool.connect(), this.#names);
    } catch (error) {
      throw databaseFailure(error, 'open connection');
    }
  }

  async beginTransaction(
    connection: PostgresConnection,
    { isolationLevel }: TransactionSettings,
  ): Promise<void> {
    const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`;
    await connection.begin(`start transaction${level}`);
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.commit();
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.rollback();
  }

  releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release();
    return Promise.resolve();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient;
  readonly #names: StatementNames;
  #inTransaction = false;
  #isLost = false;

  constructor(client: pg.PoolClient, names: StatementNames) {
    this.#client = client;
    this.#names = names;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const result = await this.#send(sql, this.#actionOf(sql), parameters);
    const { command, rowCount } = result;
    const rows = result.rows as R[];
    return COUNTED.has(command) && rowCount !== null
      ? { rows, numAffectedRows: BigInt(rowCount) }
      : { rows };
  }

  streamQuery(): never {
    throw new Error('results are read as a whole: lists of ours come in pages');
  }

  async begin(sql: string): Promise<void> {
    await this.#send(sql, 'begin transaction');
    this.#inTransaction = true;
  }

  async commit(): Promise<void> {
    const { command } = await this.#send('commit', 'commit transaction');
    this.#inTransaction = false;
    if (command === 'ROLLBACK') {
      throw new Error('the transaction was rolled back: a statement in it had failed unnoticed');
    }
  }

  /** Never fails: what is to be told is why it was rolled back, and the server undoes what it lost the client of. */
  async rollback(): Promise<void> {
    try {
      if (!this.#isLost) {
        await this.#send('rollback', 'write rows');
      }
    } catch {
      this.#isLost = true;
    }
    this.#inTransaction = false;
  }

  release(): void {
    this.#client.release(this.#isLost);
  }

  #actionOf(sql: string): DatabaseAction {
    if (READS.test(sql)) {
      return 'read rows';
    }
    return this.#inTransaction ? 'write rows' : 'commit statement';
  }

  async #send(
    text: string,
    action: DatabaseAction,
    values: readonly unknown[] = [],
  ): Promise<pg.QueryResult> {
    const name = this.#names.of(text);
    try {
      return await this.#client.query({
        text,
        values: [...values],
        ...(name === undefined ? {} : { name }),
      });
    } catch (error) {
      const failure = databaseFailure(error, action);
      this.#isLost ||= endsConnection(failure);
      throw failure;
    }
  }
}

const READS = /^\s*select\b/i;

/** Commands whose tag counts rows that were changed. */
const COUNTED: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE']);

/** Ours are some fifty; more would be texts made at run time, which each connection of the server would keep for ever. */
const MAX_NAMES = 200;

const NAMED = /^\s*(select|insert|update|delete|with)\b/i;

class StatementNames {
  readonly #byText = new Map<string, string>();

  /** The same for the same text, so that it fits whatever connection it is sent on; undefined: to be sent without one. */
  of(text: string): string | undefined {
    const known = this.#byText.get(text);
    if (known !== undefined || this.#byText.size >= MAX_NAMES || !NAMED.test(text)) {
      return known;
    }
    const name = createHash('sha256').update(text).digest('base64url');
    this.#byText.set(text, name);
    return name;
  }
}
