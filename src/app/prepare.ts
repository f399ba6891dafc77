// What a command that works on the database needs before it: the configuration and, where that says embedded, the data
// folder. Faults are told on standard error, so that the caller only has to end with the status.
import { resolve } from 'node:path';
import { FolderInUseError } from '../storage/folder-lock.ts';
import { type Configured, configured } from './configured.ts';
import { type DataFolder, DataFolderError, takeDataFolder } from './data-folder.ts';
import { EXIT_FAILED, EXIT_USAGE } from './exit-status.ts';

export interface Prepared extends Configured {
  /** Undefined on PostgreSQL, where no folder is touched. To be released when all is closed. */
  readonly dataFolder: DataFolder | undefined;
}

/** @returns the exit status instead, after the cause was written */
export async function prepare(): Promise<Prepared | number> {
  // With stand-ins first, so that a start that has faults anyway makes nothing.
  const settings = configured({ withStandIns: true });
  if (settings === undefined) {
    return EXIT_USAGE;
  }
  const { database } = settings.config;
  if (database.kind === 'postgres') {
    return { ...settings, dataFolder: undefined };
  }
  try {
    const dataFolder = await takeDataFolder(resolve(database.dataFolder), settings.kept);
    const complete = configured();
    if (complete === undefined) {
      dataFolder.lock.release();
      return EXIT_USAGE;
    }
    return { ...complete, dataFolder };
  } catch (error) {
    if (error instanceof DataFolderError || error instanceof FolderInUseError) {
      process.stderr.write(`${error.message}\n`);
      return EXIT_FAILED;
    }
    throw error;
  }
}
