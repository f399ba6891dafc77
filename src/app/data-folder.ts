// The folder of the embedded default: made with its secrets at the first start, open to its owner alone, and in the hand
// of one process at a time. What lies in it besides is the database's (storage/embedded.ts).
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeptSecretName } from '../config/environment.ts';
import { keptSecretPath } from '../config/kept-secrets.ts';
import { hasEmbeddedDatabase } from '../storage/embedded.ts';
import { type FolderLock, lockFolder } from '../storage/folder-lock.ts';
import { drawKey } from './draw.ts';

/** The message is a sentence for whoever started the process. */
export class DataFolderError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DataFolderError';
  }
}

export interface DataFolder {
  readonly lock: FolderLock;
  /** Files that this start has made, with their paths. */
  readonly made: readonly string[];
}

const FOR_OWNER_ALONE = 0o077;

/**
 * Takes the folder, made where it is missing, and has each secret in it that is named.
 * @throws DataFolderError, or FolderInUseError while another process has it; it then holds nothing new
 */
export async function takeDataFolder(
  path: string,
  secrets: readonly KeptSecretName[],
): Promise<DataFolder> {
  makeFolder(path);
  const lock = await lockFolder(path, {
    clock: () => new Date(),
    drawToken: () => randomUUID(),
    sleep: (delayMs) => sleep(delayMs),
  });
  try {
    return { lock, made: secrets.filter((name) => keep(path, name)).map(pathIn(path)) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function pathIn(folder: string): (name: KeptSecretName) => string {
  return (name) => keptSecretPath(folder, name);
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    if (isOpenToOthers(path)) chmodSync(path, 0o700);
  } catch (error) {
    throw new DataFolderError(
      `The data folder ${path} cannot be made, or not be closed to others: ${messageOf(error)}.`,
      { cause: error },
    );
  }
}

/** @returns whether it was made now */
function keep(folder: string, name: KeptSecretName): boolean {
  const path = keptSecretPath(folder, name);
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) {
    demandClosed(path);
    return false;
  }
  if (name === 'RUNTIME_BROKER_SEALING_KEYS' && hasEmbeddedDatabase(folder)) {
    throw new DataFolderError(
      `The sealing keys ${path} are missing, but the database beside them was sealed with them. Bring the file back, or give its content in ${name}; without it nothing of what is sealed can be opened any more, and the folder may as well be removed.`,
    );
  }
  // Under another name until it is whole: what a crash leaves is not taken for a secret.
  const unfinished = `${path}.new`;
  writeFileSync(unfinished, `${draw(name)}\n`, { mode: 0o600 });
  renameSync(unfinished, path);
  return true;
}

/** Not mended by ourselves: whoever could read it may have done so. */
function demandClosed(path: string): void {
  if (isOpenToOthers(path)) {
    throw new DataFolderError(
      `The secret in ${path} can be read by other users of this machine. Close it with chmod 600, after replacing it if one of them may have seen it.`,
    );
  }
}

/** Windows keeps no such modes. */
function isOpenToOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & FOR_OWNER_ALONE) !== 0;
}

const PASSWORD_BYTES = 24;

function draw(name: KeptSecretName): string {
  switch (name) {
    case 'RUNTIME_BROKER_PASSWORD':
    case 'RUNTIME_BROKER_OPERATOR_PASSWORD':
      return randomBytes(PASSWORD_BYTES).toString('base64url');
    case 'RUNTIME_BROKER_SEALING_KEYS':
      return `first:${drawKey().toString('base64')}`;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}
