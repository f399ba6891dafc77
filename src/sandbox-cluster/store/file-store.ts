// Keeps a sandbox in a folder: identity.json, and per cluster a file with one change a line. Survives the death of the
// process at any moment; nothing is forced to the disk, so a loss of power can lose the last changes.

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

import { isJsonObject, type JsonObject } from '../api/kube-object.ts';
import type { Journal, SandboxIdentity, SandboxStore } from './sandbox-store.ts';

const EXTENSION = '.jsonl';

/** Keys and tokens are inside: for the owner alone. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** The folder is made where it is missing. One process at a time, which its caller sees to. */
export function fileStore(folder: string): SandboxStore {
  const identityFile = join(folder, 'identity.json');
  const clusters = join(folder, 'clusters');
  mkdirSync(clusters, { recursive: true, mode: FOLDER_MODE });
  const fileOf = (clusterName: string): string => join(clusters, `${clusterName}${EXTENSION}`);
  return {
    readIdentity: () =>
      existsSync(identityFile)
        ? (parse(readFileSync(identityFile, 'utf8'), identityFile) as unknown as SandboxIdentity)
        : undefined,
    writeIdentity: (identity) => writeWhole(identityFile, JSON.stringify(identity)),
    clusterNames: () =>
      readdirSync(clusters)
        .filter((file) => file.endsWith(EXTENSION))
        .map((file) => file.slice(0, -EXTENSION.length)),
    openJournal: (clusterName) => openFile(fileOf(clusterName)),
    removeJournal: (clusterName) => rmSync(fileOf(clusterName), { force: true }),
  };
}

function openFile(file: string): Journal {
  const found = readLines(file);
  // What a crash tore would swallow the next line.
  if (found.isTorn) writeWhole(file, asLines(found.changes));
  let descriptor = openSync(file, 'a', FILE_MODE);
  return {
    read: () => readLines(file).changes,
    append: (change) => void writeSync(descriptor, asLines([change])),
    replace(changes) {
      closeSync(descriptor);
      writeWhole(file, asLines(changes));
      descriptor = openSync(file, 'a', FILE_MODE);
    },
    close: () => closeSync(descriptor),
  };
}

function asLines(changes: readonly JsonObject[]): string {
  return changes.map((change) => `${JSON.stringify(change)}\n`).join('');
}

function readLines(file: string): { changes: readonly JsonObject[]; isTorn: boolean } {
  if (!existsSync(file)) return { changes: [], isTorn: false };
  const lines = readFileSync(file, 'utf8').split('\n');
  const rest = lines.pop();
  return { changes: lines.map((line) => parse(line, file)), isTorn: rest !== '' };
}

/** Says the file and not what is wrong in it: JSON.parse would quote what may be a part of a key. */
function parse(text: string, file: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Told below.
  }
  if (!isJsonObject(value)) throw new Error(`${file} is damaged`);
  return value;
}

function writeWhole(file: string, text: string): void {
  const fresh = `${file}.new`;
  const descriptor = openSync(fresh, 'w', FILE_MODE);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(fresh, file);
}
