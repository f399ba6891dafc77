// The data folder that the demo shares with `npm start`: where it is, the files that the demo adds in a folder of its
// own below it, and the credentials of the platform that the broker keeps there.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { DemoFailure } from './demo-failure.ts';
import type { Environment } from './environment.ts';

export const REPOSITORY = resolve(import.meta.dirname, '..');

/** As `npm start` has it (docs/configuration.md). */
const DEFAULT_DATA_FOLDER = '.runtime-broker';

/** Below the data folder, so that nothing of the demo can be taken for a file of the broker. */
const DEMO_FOLDER = 'demo';

export function dataFolderOf(env: Environment): string {
  return resolve(REPOSITORY, env['RUNTIME_BROKER_DATA_DIR'] || DEFAULT_DATA_FOLDER);
}

export function demoFolderOf(dataFolder: string): string {
  return join(dataFolder, DEMO_FOLDER);
}

/** A path as a person at the root of the repository would type it. */
export function shownPath(path: string): string {
  const fromRepository = relative(REPOSITORY, path);
  return fromRepository.startsWith('..') ? path : fromRepository;
}

export interface DemoFiles {
  readonly folder: string;
  /** Replaces the file; only for us to read. @returns its path */
  write(name: string, text: string): string;
}

/** Only once the broker holds the data folder: before, it may be another process's. */
export function openDemoFiles(dataFolder: string): DemoFiles {
  const folder = demoFolderOf(dataFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    folder,
    write(name, text) {
      const file = join(folder, name);
      // A file that is there keeps its mode, and a link its target.
      rmSync(file, { force: true });
      writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
      return file;
    },
  };
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** The ones that a person gave the broker, else those that it made at its first start; without authentication there are none. */
export function platformCredentials(env: Environment, dataFolder: string): Credentials {
  const given = env['RUNTIME_BROKER_PASSWORD'] || undefined;
  const file = env['RUNTIME_BROKER_PASSWORD_FILE'] || join(dataFolder, 'platform-password');
  return {
    username: env['RUNTIME_BROKER_USERNAME'] || 'broker',
    password: env['RUNTIME_BROKER_AUTH'] === 'none' ? '' : (given ?? readLine(file)),
  };
}

/** What it may hold is the broker's to say. */
export function readKubeconfig(file: string): string {
  return readFrom(file, 'kubeconfig');
}

function readLine(file: string): string {
  return readFrom(file, 'password of the platform').trim();
}

function readFrom(file: string, what: string): string {
  try {
    return readFileSync(resolve(REPOSITORY, file), 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new DemoFailure(`The ${what} ${file} cannot be read (${code}).`);
  }
}
