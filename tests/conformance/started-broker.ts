// The broker as a process of its own, started as `npm start` does it, for runs that name no broker.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const MAIN = fileURLToPath(new URL('../../src/app/main.ts', import.meta.url));

export interface StartedBroker {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** Undefined where nobody but the broker can look into its database. */
  readonly databaseUrl: string | undefined;
  /** Kills the process without a word to it, and starts it anew at the same address. */
  restart(): Promise<void>;
  /** Ends it, and removes what it kept. */
  stop(): Promise<void>;
}

interface Kept {
  readonly env: Readonly<Record<string, string>>;
  readonly databaseUrl?: string;
  readonly password: () => string;
  readonly remove: () => Promise<void> | void;
}

/** The embedded default, which needs nothing, in a folder of its own. */
export async function startOnEmbedded(): Promise<StartedBroker> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  return await start({
    env: { RUNTIME_BROKER_DATA_DIR: join(folder, 'data') },
    password: () => readFileSync(join(folder, 'data', 'platform-password'), 'utf8').trim(),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  });
}

/** In a database of its own on that server. */
export async function startOnPostgres(serverUrl: string): Promise<StartedBroker> {
  const name = `conformance_${randomUUID().replaceAll('-', '')}`;
  await statement(serverUrl, `create database ${name} template template0 encoding 'UTF8'`);
  const database = new URL(serverUrl);
  database.pathname = `/${name}`;
  const password = randomBytes(18).toString('base64url');
  return await start({
    env: {
      DATABASE_URL: database.href,
      RUNTIME_BROKER_PASSWORD: password,
      RUNTIME_BROKER_SEALING_KEYS: `first:${randomBytes(32).toString('base64')}`,
    },
    databaseUrl: database.href,
    password: () => password,
    remove: () => statement(serverUrl, `drop database if exists ${name} with (force)`),
  });
}

async function statement(serverUrl: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  // A connection that breaks is told to the call too, which throws.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(text);
  } finally {
    await client.end();
  }
}

async function start({ env, databaseUrl, password, remove }: Kept): Promise<StartedBroker> {
  let running = await serve({ ...env, RUNTIME_BROKER_LISTEN: '127.0.0.1:0' });
  const { url } = running;
  return {
    url,
    username: 'broker',
    password: password(),
    databaseUrl,
    async restart() {
      await end(running.process, 'SIGKILL');
      running = await serve({ ...env, RUNTIME_BROKER_LISTEN: new URL(url).host });
    },
    async stop() {
      await end(running.process, 'SIGTERM');
      await remove();
    },
  };
}

interface Running {
  readonly process: ChildProcess;
  readonly url: string;
}

/** Returns once requests are served. */
async function serve(env: Readonly<Record<string, string>>): Promise<Running> {
  const broker = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'],
      RUNTIME_BROKER_OPERATOR_LISTEN: '127.0.0.1:0',
      RUNTIME_BROKER_LOG_FORMAT: 'json',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = () => broker.kill('SIGKILL');
  process.once('exit', kill);
  broker.once('close', () => process.off('exit', kill));
  return { process: broker, url: await urlOnceReady(broker) };
}

interface LogLine {
  readonly msg?: string;
  readonly surface?: string;
  readonly url?: string;
}

/** Reads the log to its end, long after the answer: a process whose output nobody reads stands still. */
function urlOnceReady(broker: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let rest = '';
    let url = '';
    const lines: string[] = [];
    broker.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) {
        const { msg, surface, url: told = '' } = JSON.parse(line) as LogLine;
        if (msg === 'listening' && surface === 'public') url = told;
        if (msg === 'ready') resolve(url);
        lines.push(line);
      }
    });
    broker.once('close', () => reject(new Error(`the broker has ended:\n${lines.join('\n')}`)));
  });
}

async function end(broker: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (broker.exitCode !== null || broker.signalCode !== null) return;
  const closed = once(broker, 'close');
  broker.kill(signal);
  await closed;
}
