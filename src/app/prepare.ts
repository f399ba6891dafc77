// What a command that works on the database needs before it: the configuration and, where that says embedded, the data
// folder. Faults are told on standard error, so that the caller only has to end with the status.
import { resolve } from 'node:path';
import type { Secret } from '../domain/secret.ts';
import { FolderInUseError } from '../storage/folder-lock.ts';
import { type Configured, configured } from './configured.ts';
import { type DataFolder, DataFolderError, takeDataFolder } from './data-folder.ts';
import { EXIT_FAILED, EXIT_USAGE } from './exit-status.ts';

export interface Prepared extends Configured {
  /** Undefined on PostgreSQL, where no folder is touched. To be released when all is closed. */
  readonly dataFolder: DataFolder | undefined;
}

/** The data folder is another process's, which can be asked to do it. */
export interface Held {
  readonly address: string;
  readonly commandSecret: Secret;
}

/** For what needs the database to itself. @returns the exit status instead, after the cause was written */
export async function prepare(): Promise<Prepared | number> {
  return await prepareOr(refuse);
}

/** For what the process that has the data folder can do as well. */
export async function prepareOrAsk(): Promise<Prepared | Held | number> {
  return await prepareOr(({ holder, message }) => {
    const { address, commandSecret } = holder ?? {};
    return address === undefined || commandSecret === undefined
      ? refuse({ message })
      : { address, commandSecret };
  });
}

function refuse({ message }: Pick<FolderInUseError, 'message'>): number {
  process.stderr.write(`${message}\n`);
  return EXIT_FAILED;
}

async function prepareOr<Otherwise>(
  whenInUse: (error: FolderInUseError) => Otherwise,
): Promise<Prepared | Otherwise | number> {
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
    if (error instanceof FolderInUseError) {
      return whenInUse(error);
    }
    if (error instanceof DataFolderError) {
      return refuse(error);
    }
    throw error;
  }
}
