// The embedded database: PGlite in a folder, for a laptop and for tests. It is read by the same rules as PostgreSQL,
// and belongs to one process at a time: whoever opens it holds the folder's lock (folder-lock.ts).
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { dataDir as initialContent } from '@electric-sql/pglite-prepopulatedfs';
import { Kysely, PGliteAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { PGliteLike } from 'pg-boss';
import type { Db, Schema } from './database.ts';
import { EmbeddedDriver, type EmbeddedSession } from './embedded-driver.ts';

/** Below the data folder. */
const DATABASE = 'database';

/** Beside it while it is made: what is found half made after a crash holds nothing yet, and is made anew. */
const UNFINISHED = 'database.unfinished';

/** A ledger of a laptop fits many times; the default of 128 MB is touched as a whole at each start. */
const PAGE_CACHE = '16MB';

export interface EmbeddedDatabase {
  /** `destroy()` closes the database. */
  readonly db: Db;
  /** For the job engine: the same session, whose statements take turns with those of `db`. */
  readonly session: PGliteLike & Required<Pick<PGliteLike, 'listen'>>;
  /** Opens it now rather than at the first statement; the first time of all it is made. */
  open(): Promise<void>;
}

/** Whether a database was made in this data folder before. */
export function hasEmbeddedDatabase(dataFolder: string): boolean {
  return existsSync(join(dataFolder, DATABASE)) && !existsSync(join(dataFolder, UNFINISHED));
}

/** @param dataFolder is there, and this process holds its lock until after `destroy()` */
export function openEmbedded(dataFolder: string): EmbeddedDatabase {
  const session = new FolderSession(dataFolder);
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PGliteAdapter(),
      createDriver: () => new EmbeddedDriver(session),
      createIntrospector: (opened) => new PostgresIntrospector(opened),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return {
    db,
    session: {
      query: async (text, values) => (await session.open()).query(text, values),
      exec: async (text) => (await session.open()).exec(text),
      listen: async (channel, heard) => (await session.open()).listen(channel, heard),
    },
    // Through Kysely, whose destroy() does nothing while it has opened nothing itself.
    open: () => db.connection().execute(() => Promise.resolve()),
  };
}

class FolderSession implements EmbeddedSession {
  readonly #dataFolder: string;
  #opened: Promise<PGlite> | undefined;

  constructor(dataFolder: string) {
    this.#dataFolder = dataFolder;
  }

  async open(): Promise<PGlite> {
    // Not tried again after a failure: each try costs some 400 MB, and a folder does not mend itself.
    this.#opened ??= openFolder(this.#dataFolder);
    return await this.#opened;
  }

  async close(): Promise<void> {
    const pglite = await this.#opened?.catch(() => undefined);
    if (pglite === undefined || pglite.closed) return;
    // Waits for its turn, and the next start has no log to replay.
    await pglite.query('checkpoint');
    await pglite.close();
  }
}

async function openFolder(dataFolder: string): Promise<PGlite> {
  const database = join(dataFolder, DATABASE);
  const unfinished = join(dataFolder, UNFINISHED);
  const isNew = !hasEmbeddedDatabase(dataFolder);
  if (isNew) {
    writeFileSync(unfinished, '');
    rmSync(database, { recursive: true, force: true });
  }
  const pglite = await PGlite.create({
    dataDir: database,
    startParams: [...PGlite.defaultStartParams, '-c', `shared_buffers=${PAGE_CACHE}`],
    // Without it PGlite runs initdb, which takes some five times as long and twice the memory.
    ...(isNew ? { loadDataDir: await initialContent() } : {}),
  });
  rmSync(unfinished, { force: true });
  return pglite;
}
