// Databases for test files: an empty one each on the PostgreSQL of the run, a whole server for tests that crash it, or a
// data folder for the embedded one.

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import type { Engine } from './engines-under-test.ts';
import { recordOutput } from './leak-record.ts';
import type { PostgresOfRun } from './provided.ts';
import { createDatabase, dropDatabase } from './real-parts/databases.ts';
import { openGuardedFolder } from './real-parts/guarded-folder.ts';
import { type Postgres, startPostgres } from './real-parts/postgres.ts';

export interface FreshDatabase {
  /** Empty where the database is an embedded one. */
  readonly url: string;
  /** Settings of a broker on it, beside the URL. */
  readonly env: Readonly<Record<string, string>>;
  /** Writes all it holds to the record of outputs, then drops it, connected or not. */
  drop(): Promise<void>;
}

/** A test's database is small; what does not fit is a fault of the test. */
const MAX_DUMP_BYTES = 256 * 1024 * 1024;

/** Empty: migrations are the caller's. `template` names a database of the same server to copy instead. */
export async function freshDatabase(
  options: { readonly template?: string } = {},
): Promise<FreshDatabase> {
  const postgres = postgresOfRun();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const url = await createDatabase(postgres.url, name, options);
  return {
    url,
    env: {},
    async drop() {
      recordOutput('database dump', await dump(postgres.pgDump, url));
      await dropDatabase(postgres.url, name);
    },
  };
}

/** A server of the test's own; the test stops it. */
export async function ownPostgres(): Promise<Postgres> {
  const binaries = inject('parts').postgresBinaries;
  if (!binaries.found) throw new Error(`no PostgreSQL to start: ${binaries.howToGet}`);
  return startPostgres(binaries.path);
}

/** A database of that kind, for one broker at a time where it is embedded. */
export async function freshDatabaseOn(engine: Engine): Promise<FreshDatabase> {
  if (engine === 'postgres') return freshDatabase();
  const folder = freshDataFolder();
  return {
    url: '',
    env: { RUNTIME_BROKER_DATA_DIR: folder.path },
    drop: () => Promise.resolve(folder.remove()),
  };
}

export interface FreshDataFolder {
  readonly path: string;
  /** Nobody may use it any more. */
  remove(): void;
}

/** Empty, for the embedded database; removed with the process at the latest. */
export function freshDataFolder(): FreshDataFolder {
  const guarded = openGuardedFolder('data');
  const path = join(guarded.path, 'data');
  mkdirSync(path, { mode: 0o700 });
  return { path, remove: () => guarded.remove() };
}

/** The whole database as SQL, for the record of outputs. */
async function dump(pgDump: string, url: string): Promise<string> {
  const { stdout } = await promisify(execFile)(pgDump, ['--no-owner', `--dbname=${url}`], {
    maxBuffer: MAX_DUMP_BYTES,
  });
  return stdout;
}

function postgresOfRun(): PostgresOfRun {
  const { postgres } = inject('parts');
  if (!postgres.found) throw new Error(`no PostgreSQL in this run: ${postgres.howToGet}`);
  return postgres;
}
