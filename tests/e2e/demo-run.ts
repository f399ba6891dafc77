// `npm run demo` for test files: its own process in a data folder of its own, its output, the commands that it prints,
// and what is true of its folder afterwards.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { recordOutput, recordSecret } from '../support/leak-record.ts';
import { until } from '../support/until.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');

/** A database is made and a broker started, on a machine that is busy with other tests. */
export const DEMO_LIMIT_MS = 90_000;

export interface DemoRun {
  readonly child: ChildProcess;
  output(): string;
  /** Waits for the end. @returns the exit status; null after a signal that it did not handle */
  status(): Promise<number | null>;
  untilSays(text: string): Promise<void>;
}

export interface DemoOptions {
  /** The demo itself, unless it is npm that starts it. */
  readonly command?: readonly [string, ...string[]];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const DEMO = [process.execPath, join(REPOSITORY, 'demo/demo.ts')] as const;

export const BY_NPM = ['npm', 'run', 'demo', '--'] as const;

/** One folder for a test, and the demos in it. */
export class DemoScene {
  readonly folder = mkdtempSync(join(tmpdir(), 'runtime-broker-test-'));
  readonly dataFolder = join(this.folder, 'data');
  readonly #runs: DemoRun[] = [];

  start({ command = DEMO, args = [], env = {} }: DemoOptions = {}): DemoRun {
    const [program, ...first] = command;
    const child = spawn(program, [...first, ...args], {
      cwd: REPOSITORY,
      env: {
        ...process.env,
        CI: 'true',
        DATABASE_URL: '',
        RUNTIME_BROKER_LISTEN: '127.0.0.1:0',
        RUNTIME_BROKER_OPERATOR_LISTEN: '127.0.0.1:0',
        RUNTIME_BROKER_DATA_DIR: this.dataFolder,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const run = follow(child);
    this.#runs.push(run);
    return run;
  }

  /** A path in the folder of the demo's own files. */
  file(name: string): string {
    return join(this.dataFolder, 'demo', name);
  }

  read(name: string): string {
    return readFileSync(this.file(name), 'utf8');
  }

  /** Of a PATH on which git, npm and Node are, and what the shell brings; no kubectl is anywhere else either. */
  withoutKubectl(): Readonly<Record<string, string>> {
    const bin = join(this.folder, 'bin');
    mkdirSync(bin, { recursive: true });
    for (const name of ['sh', 'curl', 'node', 'npm']) {
      rmSync(join(bin, name), { force: true });
      symlinkSync(onPath(name), join(bin, name));
    }
    return { PATH: bin, KUBECTL: '', XDG_CACHE_HOME: join(this.folder, 'empty') };
  }

  /** Ends what still runs, and hands what was put out and what was secret to the leak record. */
  async close({ hasFailed }: { readonly hasFailed: boolean }): Promise<void> {
    for (const run of this.#runs) {
      run.child.kill('SIGKILL');
      await run.status();
      recordOutput('demo output', run.output());
      if (hasFailed) process.stdout.write(run.output());
    }
    this.#record();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #record(): void {
    ifThere(join(this.dataFolder, 'platform-password'), (text) =>
      recordSecret('password of the platform', text.trim()),
    );
    ifThere(join(this.dataFolder, 'sealing-keys'), (text) =>
      recordSecret('sealing key', text.trim().replace(/^[^:]+:/, '')),
    );
    ifThere(this.file('kubeconfig'), (text) => {
      // A kill may have left it half written.
      const token = /token: "(.+)"/.exec(text)?.[1];
      if (token !== undefined) recordSecret('token of a binding', token);
    });
    ifThere(this.file('broker.log'), (text) => recordOutput('broker output', text));
  }
}

function follow(child: ChildProcess): DemoRun {
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  }
  const closed = once(child, 'close').then(() => child.exitCode);
  const output = () => chunks.join('');
  return {
    child,
    output,
    status: () => closed,
    untilSays: (text) =>
      until({
        what: `the demo says "${text}"`,
        limitMs: DEMO_LIMIT_MS,
        isSo: () => output().includes(text),
        isHopeless: () => (child.exitCode === null ? null : `it has ended:\n${output()}`),
      }),
  };
}

function onPath(program: string): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  // Node's own folder first: the version under which the tests run.
  for (const folder of [dirname(process.execPath), ...folders]) {
    try {
      readFileSync(join(folder, program));
      return join(folder, program);
    } catch {
      // Not in this one.
    }
  }
  throw new Error(`no ${program} on the PATH`);
}

function ifThere(file: string, act: (text: string) => void): void {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return;
  }
  act(text);
}

export function publicUrlIn(output: string): string {
  const url = /^ {6}(http\S+), on the embedded default/m.exec(output)?.[1];
  if (url === undefined) throw new Error(`no line tells where the broker listens: ${output}`);
  return url;
}

/** Number → commands that the demo suggests, each one line. */
export function suggestionsIn(output: string): ReadonlyMap<number, readonly string[]> {
  const blocks = output.matchAll(/^(\d) {2}.+\n((?: {3}.+\n)+)/gm);
  return new Map(
    [...blocks].map(([, number = '', commands = '']) => [
      Number(number),
      commands.trim().split(/\n +/),
    ]),
  );
}

export interface Typed {
  readonly output: string;
  readonly status: number | null;
}

/** As a person pastes it into another terminal, which is in another folder. */
export async function typed(
  command: string | undefined,
  env: Readonly<Record<string, string>> = {},
): Promise<Typed> {
  const shell = spawn('/bin/sh', ['-c', command ?? 'false'], {
    cwd: tmpdir(),
    env: { ...process.env, ...env },
  });
  const chunks: string[] = [];
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  }
  await once(shell, 'close');
  return { output: chunks.join(''), status: shell.exitCode };
}

export async function isReachable(url: string): Promise<boolean> {
  try {
    await fetch(url);
    return true;
  } catch {
    return false;
  }
}

/** Names, or the status of the refusal. */
export async function namespacesBy(kubeconfig: string): Promise<readonly string[] | number> {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  try {
    const { items } = await config.makeApiClient(CoreV1Api).listNamespace();
    return items.map(({ metadata }) => metadata?.name ?? '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'number') {
      return error.code;
    }
    throw error;
  }
}
