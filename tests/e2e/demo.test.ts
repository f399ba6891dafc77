// `npm run demo` as a person or a pipeline runs it: its own process, its output read, its commands typed, its end
// forced. Most tests hand it the PostgreSQL and the cluster of the run, so that only the broker has to start.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { sharedCluster } from '../support/cluster.ts';
import { recordOutput, recordSecret } from '../support/leak-record.ts';
import { describeWith } from '../support/needs.ts';
import { until } from '../support/until.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');

/** An API server, a PostgreSQL and a broker start one after the other, on a machine that is busy with other tests. */
const DEMO_LIMIT_MS = 90_000;

interface Run {
  readonly child: ChildProcess;
  output(): string;
  /** Waits for the end. @returns the exit status; null after a signal that it did not handle */
  status(): Promise<number | null>;
  untilSays(text: string): Promise<void>;
}

interface RunOptions {
  /** The demo itself, unless it is npm that starts it. */
  readonly command?: readonly [string, ...string[]];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

let folder: string;
let runs: Run[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runtime-broker-test-'));
  runs = [];
});

afterEach(async ({ task }) => {
  for (const run of runs) {
    run.child.kill('SIGKILL');
    await run.status();
    recordOutput('demo output', run.output());
    if (task.result?.state === 'fail') process.stdout.write(run.output());
  }
  rmSync(folder, { recursive: true, force: true });
});

/** In the demo's words, the data folder. Nothing may be in it once a demo has ended. */
function dataFolder(): string {
  return join(folder, 'data');
}

const DEMO = [process.execPath, join(REPOSITORY, 'demo/demo.ts')] as const;

function startDemo({ command = DEMO, args = [], env = {} }: RunOptions = {}): Run {
  const [program, ...first] = command;
  const child = spawn(program, [...first, ...args], {
    cwd: REPOSITORY,
    env: {
      ...process.env,
      CI: 'true',
      RUNTIME_BROKER_LISTEN: '127.0.0.1:0',
      RUNTIME_BROKER_OPERATOR_LISTEN: '127.0.0.1:0',
      RUNTIME_BROKER_DATA_DIR: dataFolder(),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  }
  const closed = once(child, 'close').then(() => child.exitCode);
  const output = () => chunks.join('');
  const run: Run = {
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
  runs.push(run);
  return run;
}

/** The broker alone is started; the rest is there already. */
function startOnPartsOfRun(
  env: Readonly<Record<string, string>> = {},
  command: RunOptions['command'] = DEMO,
): Run {
  const { postgres } = inject('parts');
  if (!postgres.found) throw new Error(`no PostgreSQL in this run: ${postgres.howToGet}`);
  const kubeconfig = join(folder, 'cluster-kubeconfig');
  writeFileSync(kubeconfig, sharedCluster().adminKubeconfig, { mode: 0o600 });
  return startDemo({
    command,
    args: ['--kubeconfig', kubeconfig],
    env: { DATABASE_URL: postgres.url, ...env },
  });
}

function expectNothingLeft(): void {
  expect(existsSync(dataFolder())).toBe(false);
}

async function isReachable(url: string): Promise<boolean> {
  try {
    await fetch(url);
    return true;
  } catch {
    return false;
  }
}

function publicUrlIn(output: string): string {
  const url = /for platforms (\S+),/.exec(output)?.[1];
  if (url === undefined) throw new Error(`no line tells where the broker listens: ${output}`);
  return url;
}

function tokenIn(kubeconfigFile: string): string {
  const token = /token: "(.+)"/.exec(readFileSync(kubeconfigFile, 'utf8'))?.[1];
  if (token === undefined) throw new Error(`no token in ${kubeconfigFile}`);
  return token;
}

/** The commands that the demo suggests, by their number. */
function suggestionsIn(output: string): ReadonlyMap<string, string> {
  const blocks = output.matchAll(/^(\d) {2}.+\n((?: {3}.+\n)+)/gm);
  return new Map([...blocks].map(([, number = '', command = '']) => [number, command]));
}

async function typed(
  command: string | undefined,
): Promise<{ readonly output: string; readonly status: number | null }> {
  const shell = spawn('/bin/sh', ['-c', command ?? 'false'], { cwd: REPOSITORY });
  const chunks: string[] = [];
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  }
  await once(shell, 'close');
  return { output: chunks.join(''), status: shell.exitCode };
}

describe('npm run demo, before it starts anything', () => {
  it('explains itself', async () => {
    const run = startDemo({ args: ['--help'] });
    expect(await run.status()).toBe(0);
    expect(run.output()).toContain('npm run demo -- --kubeconfig FILE');
  });

  it('names an option that it does not know, and where options go', async () => {
    const run = startDemo({ args: ['--kubeconfg', 'file'] });
    expect(await run.status()).toBe(2);
    expect(run.output()).toContain("Unknown option '--kubeconfg'. Options go after `--`");
  });

  it('says what is missing and how to get it', async () => {
    const run = startDemo({
      env: {
        XDG_CACHE_HOME: folder,
        PATH: '',
        KUBECTL: '',
        KUBEBUILDER_ASSETS: '',
        ETCD: '',
        KUBE_APISERVER: '',
      },
    });
    expect(await run.status()).toBe(1);
    expect(run.output()).toContain(
      'run `npm run real-parts` (builds kube-apiserver 1.36.3 with Go)',
    );
    expect(run.output()).toContain(
      'or use a cluster that you have: npm run demo -- --kubeconfig FILE',
    );
    expect(run.output()).toMatch(
      /Nothing was started: the demo needs .*kube-apiserver, etcd, and kubectl\.\n/,
    );
    expectNothingLeft();
  });
});

describeWith(
  { postgres: true, ownCluster: true, kubectl: true },
  'npm run demo on servers of its own',
  () => {
    it(
      'tells the whole story and ends by itself where nobody attends',
      async () => {
        const run = startDemo();
        expect(await run.status()).toBe(0);
        const output = run.output();
        expect(output).toMatch(
          /^ {2}✓ Bind: a CI job asks for a kubeconfig for 600 seconds +\d+ ms$/m,
        );
        expect(output).toContain('PUT /v2/service_instances/story/service_bindings/ci-job → 201');
        expect(output).toMatch(/kube-system +Active/);
        expect(output).toMatch(/configmap\/runtime-broker-demo-\w+ created/);
        expect(output).toContain(
          'clusterrolebinding.rbac.authorization.k8s.io/kyma-binding-ci-job-',
        );
        expect(output).toContain('Error from server (Forbidden): namespaces is forbidden');
        expect(output).toContain('✓ Look at the cluster: nothing of the broker is left');
        expect(output).toContain('✓ Stop kube-apiserver and etcd');
        // Neither colours nor tokens, private keys or passwords.
        for (const unwanted of ['\u001b', 'eyJ', 'PRIVATE KEY', 'password']) {
          expect(output).not.toContain(unwanted);
        }
        expect(await isReachable(publicUrlIn(output))).toBe(false);
        expectNothingLeft();
      },
      DEMO_LIMIT_MS,
    );
  },
);

describeWith(
  { postgres: true, cluster: true, kubectl: true },
  'npm run demo on a PostgreSQL and a cluster that it is given',
  () => {
    it(
      'stays up for a person, who types the commands that it suggests, and goes at Ctrl-C',
      async () => {
        const run = startOnPartsOfRun({ CI: 'false' });
        await run.untilSays('Ctrl-C ends the demo');
        const suggested = suggestionsIn(run.output());
        recordSecret(
          'password of the platform',
          readFileSync(join(dataFolder(), 'demo/password'), 'utf8'),
        );

        expect((await typed(suggested.get('1'))).output).toContain('"name":"own_cluster"');
        expect(await typed(suggested.get('2'))).toEqual({ output: '', status: 0 });
        recordSecret('token of a binding', tokenIn(join(dataFolder(), 'demo/my-kubeconfig')));
        expect((await typed(suggested.get('3'))).output).toMatch(/kube-system +Active/);
        expect(await typed(suggested.get('4'))).toEqual({ output: '{}\n', status: 0 });
        expect((await typed(suggested.get('3'))).output).toMatch(/Forbidden|Unauthorized/);

        recordOutput('broker output', readFileSync(join(dataFolder(), 'demo/broker.log'), 'utf8'));
        run.child.kill('SIGINT');
        expect(await run.status()).toBe(0);
        expect(run.output()).toContain('✓ Delete the instance "yours", and what is bound to it');
        expect(await isReachable(publicUrlIn(run.output()))).toBe(false);
        expectNothingLeft();
      },
      DEMO_LIMIT_MS,
    );

    it(
      'undoes what it has done when it is stopped in the middle',
      async () => {
        const run = startOnPartsOfRun();
        await run.untilSays('✓ Bind:');
        run.child.kill('SIGTERM');
        expect(await run.status()).toBe(143);
        expect(run.output()).toContain('Interrupted (SIGTERM).');
        expect(run.output()).toContain('✓ Delete the instance "story", and what is bound to it');
        expect(run.output()).toMatch(/✓ Drop the database runtime_broker_demo_\w+/);
        expectNothingLeft();
      },
      DEMO_LIMIT_MS,
    );

    it(
      'takes its broker and its files along when it is killed',
      async () => {
        const run = startOnPartsOfRun({ CI: '' });
        await run.untilSays('Ctrl-C ends the demo');
        run.child.kill('SIGKILL');
        await run.status();
        await until({
          what: 'the files are gone',
          limitMs: 10_000,
          isSo: () => !existsSync(dataFolder()),
        });
        // The guard ends the broker before it removes the files.
        expect(await isReachable(publicUrlIn(run.output()))).toBe(false);
      },
      DEMO_LIMIT_MS,
    );

    it(
      'goes when npm, which started it, is told to end',
      async () => {
        const run = startOnPartsOfRun({ CI: '' }, ['npm', 'run', 'demo', '--']);
        await run.untilSays('Ctrl-C ends the demo');
        run.child.kill('SIGTERM');
        // The pipe closes once the demo has ended too.
        await run.status();
        expect(run.output()).toContain('✓ Stop the broker');
        expectNothingLeft();
      },
      DEMO_LIMIT_MS,
    );

    it(
      'shows why the broker refuses a kubeconfig, and how to make one that it takes',
      async () => {
        const file = join(folder, 'with-a-program');
        writeFileSync(file, KUBECONFIG_WITH_A_PROGRAM);
        const run = startDemo({ args: ['--kubeconfig', file] });
        expect(await run.status()).toBe(1);
        expect(run.output()).toContain('kubeconfig: users[].user.exec is not allowed');
        expect(run.output()).toContain('kubectl config view --raw --minify --flatten');
        expect(run.output()).not.toContain('Delete the instance');
        expectNothingLeft();
      },
      DEMO_LIMIT_MS,
    );

    it('says which address is taken', async () => {
      const squatter = createServer().listen(0, '127.0.0.1');
      await once(squatter, 'listening');
      const address = squatter.address();
      if (address === null || typeof address === 'string') throw new Error('no port');
      const taken = `127.0.0.1:${address.port}`;
      const run = startOnPartsOfRun({ RUNTIME_BROKER_OPERATOR_LISTEN: taken });
      expect(await run.status()).toBe(1);
      squatter.close();
      expect(run.output()).toContain(`${taken} is taken: something listens there already`);
      expect(run.output()).toContain('RUNTIME_BROKER_OPERATOR_LISTEN=127.0.0.1:0 npm run demo');
      expectNothingLeft();
    });

    it('says that the PostgreSQL of DATABASE_URL does not answer, without its password', async () => {
      const run = startOnPartsOfRun({ DATABASE_URL: 'postgres://me:sesame-open@127.0.0.1:9/x' });
      expect(await run.status()).toBe(1);
      expect(run.output()).toContain(
        'No database could be made on the PostgreSQL of DATABASE_URL: connect ECONNREFUSED',
      );
      expect(run.output()).not.toContain('sesame-open');
      expectNothingLeft();
    });
  },
);

const KUBECONFIG_WITH_A_PROGRAM = `
apiVersion: v1
kind: Config
current-context: it
contexts: [{name: it, context: {cluster: it, user: it}}]
clusters: [{name: it, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: it, user: {exec: {command: some-cloud, apiVersion: client.authentication.k8s.io/v1}}}]
`;
