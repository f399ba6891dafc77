// Finds the real parts on this machine: etcd, kube-apiserver, kubectl and PostgreSQL. Looks only; starts, builds and
// asks nothing. What it looks at comes in as an argument, so that tests give it an environment and folders of their own.

import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import {
  type BuiltPart,
  type BuiltPartName,
  builtParts,
  builtPath,
  cacheFolder,
  type Environment,
} from './parts.ts';

export interface Found {
  readonly found: true;
  readonly path: string;
}

export interface Missing {
  readonly found: false;
  /** A sentence for people, without a full stop: what to run, install or set. */
  readonly howToGet: string;
}

export type Finding = Found | Missing;

export interface FoundServer {
  readonly found: true;
  /** The value of DATABASE_URL: a server that runs already. */
  readonly url: string;
}

export interface FoundParts {
  readonly etcd: Finding;
  readonly kubeApiserver: Finding;
  readonly kubectl: Finding;
  /** `path` is the folder that holds initdb and postgres. */
  readonly postgresBinaries: Finding;
  readonly postgresServer: FoundServer | Missing;
  readonly pgDump: Finding;
}

export interface Surroundings {
  readonly env: Environment;
  readonly cacheFolder: string;
  /** Folder with one folder per major version of PostgreSQL, as Debian lays it out. */
  readonly postgresVersionsFolder: string;
}

const ENVIRONMENT_NAMES = {
  etcd: 'ETCD',
  'kube-apiserver': 'KUBE_APISERVER',
  kubectl: 'KUBECTL',
} as const satisfies Record<BuiltPartName, string>;

/** What a started PostgreSQL needs; a client-only installation has neither. */
const POSTGRES_PROGRAMS = ['initdb', 'postgres'];

export function thisMachine(env: Environment): Surroundings {
  return {
    env,
    cacheFolder: cacheFolder(env),
    postgresVersionsFolder: '/usr/lib/postgresql',
  };
}

export function findParts(around: Surroundings): FoundParts {
  const parts = new Map(builtParts().map((part) => [part.name, part]));
  const find = (name: BuiltPartName): Finding => {
    const part = parts.get(name);
    if (part === undefined) throw new Error(`no real part is called ${name}`);
    return findBuiltPart(part, around);
  };
  return {
    etcd: find('etcd'),
    kubeApiserver: find('kube-apiserver'),
    kubectl: find('kubectl'),
    postgresBinaries: findPostgresBinaries(around),
    postgresServer: findPostgresServer(around.env),
    pgDump: findPgDump(around),
  };
}

/** What a person named wins, and is never passed over in silence when it is not there; then the cache, then (kubectl only) the PATH. */
function findBuiltPart(part: BuiltPart, around: Surroundings): Finding {
  const name = ENVIRONMENT_NAMES[part.name];
  const named = around.env[name] ?? '';
  if (named !== '') return fromEnvironment(name, named, named);
  const assets = around.env['KUBEBUILDER_ASSETS'] ?? '';
  if (assets !== '') return fromEnvironment('KUBEBUILDER_ASSETS', assets, join(assets, part.name));
  const built = builtPath(part, around.cacheFolder);
  if (isExecutable(built)) return { found: true, path: built };
  const installed = part.name === 'kubectl' ? onPath('kubectl', around.env) : null;
  if (installed !== null) return { found: true, path: installed };
  return {
    found: false,
    howToGet: `run \`npm run real-parts\` (builds ${part.name} ${part.version} with Go), or set ${name} to its path`,
  };
}

function fromEnvironment(name: string, value: string, path: string): Finding {
  if (isExecutable(path)) return { found: true, path };
  return {
    found: false,
    howToGet: `${name}=${value} was set, but there is no program ${path}: correct or unset it`,
  };
}

function findPostgresServer(env: Environment): FoundServer | Missing {
  const url = env['DATABASE_URL'] ?? '';
  if (url !== '') return { found: true, url };
  return {
    found: false,
    howToGet: 'set DATABASE_URL to a PostgreSQL whose user may create databases',
  };
}

function findPostgresBinaries(around: Surroundings): Finding {
  const path = postgresFolders(around).find((folder) =>
    POSTGRES_PROGRAMS.every((program) => isExecutable(join(folder, program))),
  );
  if (path !== undefined) return { found: true, path };
  return {
    found: false,
    howToGet: 'install PostgreSQL 15 or newer (Debian: `apt-get install postgresql`)',
  };
}

/** Of no use without a server; and without one, what Debian has on the PATH may be a wrapper that only complains. */
function findPgDump(around: Surroundings): Finding {
  const binaries = findPostgresBinaries(around);
  if (!binaries.found && !findPostgresServer(around.env).found) return binaries;
  const programs = postgresFolders(around).map((folder) => join(folder, 'pg_dump'));
  const path = programs.find(isExecutable);
  if (path !== undefined) return { found: true, path };
  return {
    found: false,
    howToGet:
      'install the client programs of PostgreSQL (Debian: `apt-get install postgresql-client`)',
  };
}

/** Debian's folders, the highest version first, then the PATH. */
function postgresFolders(around: Surroundings): readonly string[] {
  const debian = majorVersions(around.postgresVersionsFolder)
    .toSorted((one, other) => other - one)
    .map((version) => join(around.postgresVersionsFolder, String(version), 'bin'));
  return [...debian, ...pathFolders(around.env)];
}

function majorVersions(folder: string): readonly number[] {
  try {
    return readdirSync(folder)
      .map(Number)
      .filter((version) => Number.isInteger(version));
  } catch {
    return [];
  }
}

function onPath(program: string, env: Environment): string | null {
  return (
    pathFolders(env)
      .map((folder) => join(folder, program))
      .find(isExecutable) ?? null
  );
}

function pathFolders(env: Environment): readonly string[] {
  return (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
