// The broker as its own process, started as `npm start` does it, for tests of what a process does: start, signals,
// exit statuses, kill -9. Its output goes to the leak record.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brokerSettings, type Credentials, embeddedSettings } from './broker-settings.ts';
import { recordOutput, recordSecret } from './leak-record.ts';
import { Operator } from './operator.ts';
import { Platform } from './platform.ts';
import { until } from './until.ts';

const MAIN = fileURLToPath(new URL('../../src/app/main.ts', import.meta.url));

/** Usual: a second, and two more where an embedded database is made. A machine under full load has been seen to take twenty times that. */
const START_LIMIT_MS = 60_000;

export interface BrokerProcess {
  readonly platform: Platform;
  readonly operator: Operator;
  readonly publicUrl: string;
  readonly operatorUrl: string;
  /** Standard output so far. */
  output(): string;
  /** Sends the signal and waits for the end. */
  end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | null>;
}

export interface BrokerProcessOptions {
  readonly databaseUrl: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Returns once the database was reached and requests are served. */
export async function startBrokerProcess(options: BrokerProcessOptions): Promise<BrokerProcess> {
  const settings = brokerSettings(options.databaseUrl, options.env);
  return await served(runMain([], settings.env), () => ({
    platform: settings,
    operator: settings.operator,
  }));
}

/** On the embedded default in this folder, with the secrets that the first start makes there. */
export async function startEmbeddedProcess(
  dataFolder: string,
  changes: Readonly<Record<string, string>> = {},
): Promise<BrokerProcess> {
  const broker = await served(runMain([], { ...embeddedSettings(dataFolder), ...changes }), () => {
    const read = (name: string) => readFileSync(join(dataFolder, name), 'utf8').trim();
    recordSecret('sealing key', read('sealing-keys').replace(/^[^:]+:/, ''));
    recordSecret('password of operators', read('operator-password'));
    const password = read('platform-password');
    recordSecret('password of the platform', password);
    return {
      platform: { username: 'broker', password },
      operator: { username: 'operator', password: read('operator-password') },
    };
  });
  recordSecret('secret of commands', await commandSecretIn(dataFolder));
  return broker;
}

/** Told in the lock file once the listeners are open. */
export async function commandSecretIn(dataFolder: string): Promise<string> {
  let secret = '';
  await until({
    what: 'the lock file tells the secret of commands',
    limitMs: START_LIMIT_MS,
    isSo: () => {
      const text = readFileSync(join(dataFolder, 'lock.json'), 'utf8');
      ({ commandSecret: secret = '' } = JSON.parse(text) as { readonly commandSecret?: string });
      return secret !== '';
    },
  });
  return secret;
}

async function served(
  run: MainRun,
  credentials: () => { readonly platform: Credentials; readonly operator: Credentials },
): Promise<BrokerProcess> {
  await until({
    what: 'the broker serves',
    limitMs: START_LIMIT_MS,
    isSo: () => run.output().includes('"msg":"ready"'),
    isHopeless: () => (run.child.exitCode === null ? null : `it has ended: ${run.output()}`),
  });
  const publicUrl = listeningUrl(run.output(), 'public');
  const operatorUrl = listeningUrl(run.output(), 'operator');
  const { platform, operator } = credentials();
  return {
    platform: new Platform({ ...platform, url: publicUrl }),
    operator: new Operator({ ...operator, url: operatorUrl }),
    publicUrl,
    operatorUrl,
    output: () => run.output(),
    async end(signal) {
      const exit = run.ended();
      run.child.kill(signal);
      return await exit;
    },
  };
}

export interface MainRun {
  readonly child: ChildProcess;
  /** Standard output and standard error, as they came. */
  readonly output: () => string;
  /** Lines of standard output alone. */
  readonly lines: () => readonly string[];
  /** Waits for the end. @returns the exit status; null after a signal */
  ended(): Promise<number | null>;
}

/** Runs the server binary with exactly this environment. */
export function runMain(args: readonly string[], env: Readonly<Record<string, string>>): MainRun {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  }
  const printed: string[] = [];
  child.stdout.on('data', (chunk: string) => printed.push(chunk));
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const closed = once(child, 'close').then(() => {
    process.off('exit', kill);
    recordOutput('broker output', chunks.join(''));
    return child.exitCode;
  });
  return {
    child,
    output: () => chunks.join(''),
    lines: () => printed.join('').trimEnd().split('\n'),
    ended: () => closed,
  };
}

interface ListeningLine {
  readonly msg: string;
  readonly surface: string;
  readonly url: string;
}

function listeningUrl(output: string, surface: string): string {
  const lines = output.split('\n').filter((line) => line.includes('"listening"'));
  const found = lines
    .map((line) => JSON.parse(line) as ListeningLine)
    .find((line) => line.msg === 'listening' && line.surface === surface);
  if (found === undefined) {
    throw new Error(`no line tells where the ${surface} listener is: ${output}`);
  }
  return found.url;
}
