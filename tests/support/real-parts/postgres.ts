// Starts a PostgreSQL to throw away: own folder, own port on loopback, everybody trusted. Can be crashed and brought back
// on the same port with the same data, for tests of its absence. Databases in it are made by databases.ts.

import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../until.ts';
import { ask } from './databases.ts';
import { onFreePort } from './free-port.ts';
import { type GuardedFolder, openGuardedFolder } from './guarded-folder.ts';
import { type ProcessOwner, type StartedProcess, startProcess } from './started-process.ts';

export interface Postgres {
  /** URL of the maintenance database `postgres`, with the superuser; serves as `serverUrl` for databases.ts. */
  readonly url: string;
  readonly port: number;
  /** The server's own log. */
  readonly logFile: string;
  /** Ends it at once, as a crash does: no checkpoint, connections broken. What was committed is there after `restart`. */
  kill(): Promise<void>;
  /** Starts it again, on the same port with the same data; returns when it answers. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

interface Place {
  readonly binFolder: string;
  readonly folder: GuardedFolder;
  readonly dataFolder: string;
  readonly owner: ProcessOwner | undefined;
}

/** Usual: half a second. A machine under full load by parallel test files has been seen to take ten times that. */
const READY_LIMIT_MS = 30_000;

/** Every test file has a pool or several, and pg-boss pools of its own; the default of 100 is not enough for a parallel run. */
const MAX_CONNECTIONS = 200;

/** `binFolder` holds initdb and postgres. Returns when it answers queries. */
export async function startPostgres(binFolder: string): Promise<Postgres> {
  const folder = openGuardedFolder('postgres');
  try {
    const owner = unprivilegedOwner();
    if (owner !== undefined) chownSync(folder.path, owner.uid, owner.gid);
    const place = { binFolder, folder, owner, dataFolder: join(folder.path, 'data') };
    await initialise(place);
    return await onFreePort((port) => startOn(place, port));
  } catch (fault) {
    folder.remove();
    throw fault;
  }
}

async function startOn(place: Place, port: number): Promise<Postgres> {
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let server = serve(place, port);
  const ready = () => untilAnswers(server, url);
  await ready();
  return {
    url,
    port,
    logFile: server.logFile,
    kill: () => server.end(),
    async restart() {
      await server.end();
      server = serve(place, port);
      await ready();
    },
    async stop() {
      await server.end();
      place.folder.remove();
    },
  };
}

async function initialise(place: Place): Promise<void> {
  mkdirSync(place.dataFolder);
  if (place.owner !== undefined) chownSync(place.dataFolder, place.owner.uid, place.owner.gid);
  const initdb = startProcess({
    name: 'initdb',
    command: join(place.binFolder, 'initdb'),
    args: [
      '-D',
      place.dataFolder,
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ],
    folder: place.folder,
    endSignal: 'SIGKILL',
    ...ownedBy(place.owner),
  });
  await until({
    what: 'initdb has ended',
    limitMs: READY_LIMIT_MS,
    isSo: () => initdb.hasExited(),
  });
  if (!/Success/.test(initdb.logTail())) throw new Error(`initdb failed:\n${initdb.logTail()}`);
}

function serve(place: Place, port: number): StartedProcess {
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: MAX_CONNECTIONS,
    // The disk may lose what it likes. synchronous_commit stays on: what a client saw committed must survive kill().
    fsync: 'off',
    full_page_writes: 'off',
  };
  return startProcess({
    name: 'postgres',
    command: join(place.binFolder, 'postgres'),
    args: [
      '-D',
      place.dataFolder,
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    folder: place.folder,
    endSignal: 'SIGQUIT',
    ...ownedBy(place.owner),
  });
}

async function untilAnswers(server: StartedProcess, url: string): Promise<void> {
  await until({
    what: 'PostgreSQL answers',
    limitMs: READY_LIMIT_MS,
    isSo: async () => {
      await ask(url);
      return true;
    },
    isHopeless: () => (server.hasExited() ? `it has ended:\n${server.logTail()}` : null),
  });
}

function ownedBy(owner: ProcessOwner | undefined): { readonly owner?: ProcessOwner } {
  return owner === undefined ? {} : { owner };
}

/** PostgreSQL refuses to run as root: then the user that its package made, else `nobody`. */
function unprivilegedOwner(): ProcessOwner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const user of ['postgres', 'nobody']) {
    try {
      return { uid: idOf(user, '-u'), gid: idOf(user, '-g') };
    } catch {
      // No such user: try the next.
    }
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is no user postgres or nobody to run it as',
  );
}

function idOf(user: string, which: '-u' | '-g'): number {
  return Number(
    execFileSync('id', [which, user], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  );
}
