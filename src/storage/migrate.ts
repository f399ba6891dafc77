// Brings a database to the schema of this release, forward only. Each migration stays usable by the release before
// it, so that replicas of both can run beside each other while one replaces the other.
import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Db, Tx } from './database.ts';
import { up as ledger } from './migrations/0001-ledger.ts';
import { up as reconcilers } from './migrations/0002-reconcilers.ts';
import { up as updates } from './migrations/0003-updates.ts';
import { up as platformRegion } from './migrations/0004-platform-region.ts';

/** In the order of their names. One that was released never changes. */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-ledger': { up: ledger },
  '0002-reconcilers': { up: reconcilers },
  '0003-updates': { up: updates },
  '0004-platform-region': { up: platformRegion },
};

const TABLE = 'schema_migrations';
const LOCK_TABLE = 'schema_migrations_lock';

/**
 * Replicas may start at once: one migrates, the others wait for it and find nothing left to do. All or nothing.
 * @returns the names of the migrations that this call has run
 * @throws UpstreamError while the database is away, or when the wait outlasts the limit of a statement; a repeat goes on
 */
export async function migrate(db: Db): Promise<readonly string[]> {
  if (await schemaIsCurrent(db)) {
    return [];
  }
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...MIGRATIONS }) },
    migrationTableName: TABLE,
    migrationLockTableName: LOCK_TABLE,
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) {
    throw error instanceof Error ? error : new Error('the migration failed', { cause: error });
  }
  return results
    .filter(({ status }) => status === 'Success')
    .map(({ migrationName }) => migrationName);
}

/** Also true of a database that a newer release has brought further. */
export async function schemaIsCurrent(tx: Tx): Promise<boolean> {
  const { rows: found } = await sql<{ exists: boolean }>`
    select to_regclass(${TABLE}) is not null as exists`.execute(tx);
  if (found[0]?.exists !== true) {
    return false;
  }
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(TABLE)}`.execute(tx);
  const done = new Set(rows.map(({ name }) => name));
  return Object.keys(MIGRATIONS).every((name) => done.has(name));
}
