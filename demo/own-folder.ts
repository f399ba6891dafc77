// The demo's files while it runs: a folder of its own in the data folder, that nobody else can read. A small shell
// process waits for the end of our pipe to it, which comes however we end (kill -9 included), then kills the process
// groups that were named to it and removes the folder.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { dirname, join, relative, resolve } from 'node:path';
import { DemoFailure } from './demo-failure.ts';
import type { Environment } from './environment.ts';

export interface OwnFolder {
  readonly path: string;
  /** Only for us to read. @returns its path */
  write(name: string, text: string): string;
  /** A path as a person at the root of the repository would type it. */
  readonly shown: (path: string) => string;
  /** From now on the group ends with us. */
  guard(groupId: number): void;
  remove(): void;
}

const REPOSITORY = resolve(import.meta.dirname, '..');

/** As `npm start` has it. */
const DEFAULT_DATA_FOLDER = '.runtime-broker';

const GUARD_SCRIPT = `
  trap '' INT TERM HUP
  groups=
  while read -r group; do groups="$groups $group"; done
  for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
  rm -rf "$1"
  [ -z "$2" ] || rmdir "$2"
`;

export function openOwnFolder(env: Environment): OwnFolder {
  const named = env['RUNTIME_BROKER_DATA_DIR'] ?? '';
  const dataFolder = resolve(REPOSITORY, named === '' ? DEFAULT_DATA_FOLDER : named);
  const madeDataFolder = !existsSync(dataFolder);
  const path = join(dataFolder, 'demo');
  makeFolder(path);
  const guard = startGuard(path, madeDataFolder ? dataFolder : '');
  return {
    path,
    write(name, text) {
      const file = join(path, name);
      writeFileSync(file, text, { mode: 0o600 });
      return file;
    },
    shown: (file) => {
      const fromRepository = relative(REPOSITORY, file);
      return fromRepository.startsWith('..') ? file : fromRepository;
    },
    guard(groupId) {
      guard.stdin.write(`${groupId}\n`);
    },
    remove() {
      guard.kill('SIGKILL');
      rmSync(path, { recursive: true, force: true });
      if (madeDataFolder) removeIfEmpty(dataFolder);
    },
  };
}

function makeFolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') {
      throw new DemoFailure(`${path} is there already: another demo seems to run.`, [
        'Wait for its end, or give this one another data folder with RUNTIME_BROKER_DATA_DIR. If none runs, remove it.',
      ]);
    }
    throw new DemoFailure(`${path} cannot be made (${codeOf(error)}).`, [
      'Name a folder that can be written to with RUNTIME_BROKER_DATA_DIR.',
    ]);
  }
}

/** Somebody else may have put something into it meanwhile. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOTEMPTY') throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

type Guard = ChildProcessByStdio<Writable, null, null>;

function startGuard(path: string, dataFolder: string): Guard {
  const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT, 'guard', path, dataFolder], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // A guard must not keep its own process alive.
  guard.unref();
  if (guard.stdin instanceof Socket) guard.stdin.unref();
  guard.stdin.on('error', () => undefined);
  return guard;
}
