// The broker as its own process, as `npm start` runs it, with a password and a sealing key drawn for this one demo.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { DemoFailure } from './demo-failure.ts';
import type { Environment } from './environment.ts';
import type { Listener } from './listen-addresses.ts';
import type { OwnFolder } from './own-folder.ts';
import type { Started } from './unwinding.ts';

export const USERNAME = 'broker';

export interface BrokerProcess {
  readonly publicUrl: string;
  readonly operatorUrl: string;
  readonly password: string;
  /** Marks this broker's objects on clusters. */
  readonly installation: string;
  /** The log, one JSON object a line. */
  readonly logFile: string;
  /** Settles when it has ended, whoever ended it. */
  readonly ended: Promise<void>;
  hasEnded(): boolean;
  /** The end of its log, for when it has ended by itself. */
  logTail(): string;
}

export interface BrokerSettings {
  readonly databaseUrl: string;
  readonly listeners: readonly Listener[];
  readonly folder: OwnFolder;
  readonly env: Environment;
}

const MAIN = resolve(import.meta.dirname, '../src/app/main.ts');

/** Usual: a second and a half, migrations included; a machine under full load has been seen to take ten times that. */
const READY_LIMIT_MS = 60_000;

/** More than the broker itself gives what it is serving. */
const STOP_LIMIT_MS = 30_000;

/** Enough for a fault of the configuration or of the start. */
const TAIL_LINES = 20;

/** Of the person's own settings only these: a configuration file could have other plans than the story. */
const INHERITED = ['PATH', 'NODE_EXTRA_CA_CERTS'];

/** Returns once it serves requests. Undone, it finishes what it is serving, within limits. */
export async function startBroker(settings: BrokerSettings): Promise<Started<BrokerProcess>> {
  const { folder } = settings;
  const password = randomBytes(18).toString('base64url');
  folder.write('password', password);
  const logFile = folder.write('broker.log', '');
  const child = spawn(process.execPath, [MAIN], {
    env: environmentOf(settings),
    // A group of its own: Ctrl-C is for us, who end it when its turn has come.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) folder.guard(child.pid);
  const log = followLog(child, logFile);
  const stop = () => stopChild(child, log.ended);
  try {
    const facts = await log.untilReady();
    return {
      what: {
        ...facts,
        password,
        logFile,
        ended: log.ended,
        hasEnded: () => child.exitCode !== null || child.signalCode !== null,
        logTail: log.tail,
      },
      undo: { title: 'Stop the broker', run: stop },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function environmentOf({ databaseUrl, listeners, folder, env }: BrokerSettings) {
  return {
    ...Object.fromEntries(INHERITED.map((name) => [name, env[name]])),
    ...Object.fromEntries(listeners.map(({ variable, address }) => [variable, address])),
    DATABASE_URL: databaseUrl,
    RUNTIME_BROKER_USERNAME: USERNAME,
    RUNTIME_BROKER_PASSWORD_FILE: join(folder.path, 'password'),
    RUNTIME_BROKER_SEALING_KEYS: `demo:${randomBytes(32).toString('base64')}`,
    RUNTIME_BROKER_LOG_FORMAT: 'json',
  };
}

interface ReadyFacts {
  readonly publicUrl: string;
  readonly operatorUrl: string;
  readonly installation: string;
}

interface FollowedLog {
  readonly ended: Promise<void>;
  readonly untilReady: () => Promise<ReadyFacts>;
  readonly tail: () => string;
}

/** What the start tells about itself, line by line; the rest is kept for whoever wants to read it. */
function followLog(child: ChildProcess, logFile: string): FollowedLog {
  const file = createWriteStream(logFile, { flags: 'a' });
  const tail: string[] = [];
  const told = new Map<string, string>();
  const ready = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (line) => {
      file.write(`${line}\n`);
      tail.push(line);
      if (tail.length > TAIL_LINES) tail.shift();
      note(line, told);
      if (told.has('ready')) ready.resolve();
    });
  }
  const ended = once(child, 'close').then(() => {
    file.end();
  });
  const tailText = () => tail.join('\n');
  return {
    ended,
    tail: tailText,
    async untilReady() {
      const limit = new AbortController();
      const late = pause(READY_LIMIT_MS, undefined, { signal: limit.signal }).catch(
        () => undefined,
      );
      await Promise.race([ready.promise, ended, late]);
      limit.abort();
      if (!told.has('ready')) {
        throw new DemoFailure('The broker did not start. What it said:', [tailText()]);
      }
      return {
        publicUrl: told.get('public') ?? '',
        operatorUrl: told.get('operator') ?? '',
        installation: told.get('ready') ?? '',
      };
    },
  };
}

interface LogLine {
  readonly msg?: string;
  readonly surface?: string;
  readonly url?: string;
  readonly installation?: string;
}

function note(line: string, told: Map<string, string>): void {
  // Faults of the configuration are no JSON.
  if (!line.startsWith('{')) return;
  const { msg, surface, url, installation } = JSON.parse(line) as LogLine;
  if (msg === 'listening' && surface !== undefined && url !== undefined) told.set(surface, url);
  if (msg === 'ready' && installation !== undefined) told.set('ready', installation);
}

async function stopChild(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGTERM');
  const limit = new AbortController();
  const late = pause(STOP_LIMIT_MS, 'late' as const, { signal: limit.signal }).catch(
    () => 'aborted',
  );
  const first = await Promise.race([ended, late]);
  limit.abort();
  if (first === 'late') {
    child.kill('SIGKILL');
    await ended;
    throw new DemoFailure('The broker did not stop in order; it was killed.');
  }
}
