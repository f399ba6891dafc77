// What every function of this folder is given: a handle on the database, inside a transaction or not. Opening one is
// left to postgres.ts; what a failure of it means, to failures.ts.
import type { Kysely, Transaction } from 'kysely';
import type {
  BindingsTable,
  EventsTable,
  GrantsTable,
  InstallationTable,
  InstancesTable,
  OperationsTable,
  ReplicasTable,
  SuspectedRestoresTable,
} from './tables.ts';

export interface Schema {
  installation: InstallationTable;
  instances: InstancesTable;
  operations: OperationsTable;
  bindings: BindingsTable;
  grants: GrantsTable;
  replicas: ReplicasTable;
  suspected_restores: SuspectedRestoresTable;
  events: EventsTable;
}

/** The pool, or the one connection of the embedded database. `destroy()` closes it. */
export type Db = Kysely<Schema>;

/** Either of the two: a transaction, or the database itself, where each statement commits on its own. */
export type Tx = Kysely<Schema>;

/** For functions that make no sense outside a transaction, such as those that lock. */
export type OpenTransaction = Transaction<Schema>;

/**
 * Runs `work` in one transaction (READ COMMITTED: a statement sees what was committed when it began, so lock first
 * and read with the next one). Whatever `work` throws rolls back and is thrown on. `work` makes no network call and
 * uses no other handle on the database.
 *
 * @throws UpstreamError whose outcome may be unknown: ask `commitOutcomeIsUnknown`
 */
export async function inTransaction<T>(
  db: Db,
  work: (tx: OpenTransaction) => Promise<T>,
): Promise<T> {
  return db.transaction().setIsolationLevel('read committed').execute(work);
}
