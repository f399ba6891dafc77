// `npm run demo` as a person or a pipeline runs it: its own process, its output read, its commands typed, its end
// asked for. What is left when it is killed is demo-killed.test.ts's.

import { once } from 'node:events';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmbeddedProcess } from '../support/broker-process.ts';
import { sharedCluster } from '../support/cluster.ts';
import { kubectl } from '../support/kubectl.ts';
import { describeWith } from '../support/needs.ts';
import {
  BY_NPM,
  DEMO_LIMIT_MS,
  DemoScene,
  isReachable,
  namespacesBy,
  publicUrlIn,
  suggestionsIn,
  typed,
} from './demo-run.ts';

let scene: DemoScene;

beforeEach(() => {
  scene = new DemoScene();
});

afterEach(async ({ task }) => {
  await scene.close({ hasFailed: task.result?.state === 'fail' });
});

/** The story's steps, in their order; the rest of each line is who does it, and how long it took. */
const STEPS = [
  'Start the broker',
  'Provision a cluster, as an instance of the plan sandbox',
  'Bind: a CI job asks for a kubeconfig for 600 seconds',
  'Use it: .* lists the namespaces',
  'Use it: make a config map, and remove it again',
  'Fetch it again: a job that crashed needs to remember nothing',
  'Revoke it',
  'Use it once more: it is refused',
];

function expectWholeStory(output: string): void {
  const lines = STEPS.map((step) => `^ {2}✓ ${step} +[\\d.]+ m?s$`);
  expect(output).toMatch(new RegExp(lines.join('[^✓✗]*'), 'm'));
  expect(output).toContain('service_bindings/ci-job → 201');
  expect(output).toMatch(/^ {6}kube-system +Active/m);
  expect(output).toMatch(/^ {6}configmap\/demo-\w+ created$/m);
  expect(output).toContain('→ 200, the same kubeconfig to the byte');
  expect(output).toMatch(/namespaces is forbidden|Unauthorized/);
  // Neither colours nor tokens, private keys or passwords.
  for (const unwanted of ['\u001b', 'eyJ', 'PRIVATE KEY', 'assword']) {
    expect(output).not.toContain(unwanted);
  }
}

/** A person's screen. */
const SCREEN_LINES = 60;

describe('npm run demo, before it starts anything', () => {
  it('explains itself', async () => {
    const run = scene.start({ args: ['--help'] });
    expect(await run.status()).toBe(0);
    expect(run.output()).toContain('npm run demo -- --kubeconfig FILE');
  });

  it('names an option that it does not know, and where options go', async () => {
    const run = scene.start({ args: ['--kubeconfg', 'file'] });
    expect(await run.status()).toBe(2);
    expect(run.output()).toContain("Unknown option '--kubeconfg'. Options go after `--`");
  });

  it('says that it cannot read a kubeconfig', async () => {
    const run = scene.start({ args: ['--kubeconfig', join(scene.folder, 'nothing')] });
    expect(await run.status()).toBe(1);
    expect(run.output()).toMatch(/The kubeconfig \S+nothing cannot be read \(ENOENT\)\./);
  });

  it('tells a fault of the command line before one of the machine', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const { port } = squatter.address() as AddressInfo;
    const run = scene.start({
      args: ['--kubeconfig', join(scene.folder, 'nothing')],
      env: { RUNTIME_BROKER_LISTEN: `127.0.0.1:${port}` },
    });
    expect(await run.status()).toBe(1);
    squatter.close();
    expect(run.output()).toMatch(/The kubeconfig \S+nothing cannot be read \(ENOENT\)\./);
  });

  it('says which address is taken, and how to run beside what is there', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const address = squatter.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const taken = `127.0.0.1:${address.port}`;
    const run = scene.start({ env: { RUNTIME_BROKER_OPERATOR_LISTEN: taken } });
    expect(await run.status()).toBe(1);
    squatter.close();
    expect(run.output()).toContain(`${taken} is taken: something listens there already`);
    expect(run.output()).toContain('RUNTIME_BROKER_DATA_DIR=$(mktemp -d) npm run demo');
  });

  it(
    'says that a broker holds the data folder, and leaves that one alone',
    async () => {
      const broker = await startEmbeddedProcess(scene.dataFolder);
      const run = scene.start();
      expect(await run.status()).toBe(1);
      expect(run.output()).toContain(`The data folder ${scene.dataFolder} is in use by process`);
      expect(run.output()).toContain('set RUNTIME_BROKER_DATA_DIR to another folder');
      expect((await broker.platform.catalog()).status).toBe(200);
      expect(await broker.end('SIGTERM')).toBe(0);
    },
    DEMO_LIMIT_MS,
  );

  it(
    'says that the data folder cannot be made',
    async () => {
      // Nobody can make a folder there, root neither.
      const dataFolder = '/sys/runtime-broker';
      const run = scene.start({ env: { RUNTIME_BROKER_DATA_DIR: dataFolder } });
      expect(await run.status()).toBe(1);
      expect(run.output()).toContain(`The data folder ${dataFolder} cannot be made`);
    },
    DEMO_LIMIT_MS,
  );
});

describe('npm run demo on a machine without kubectl', () => {
  it(
    'tells the whole story with a client library, twice in the same folder, and ends by itself where nobody attends',
    async () => {
      const env = scene.withoutKubectl();
      const first = scene.start({ env });
      expect(await first.status()).toBe(0);
      expectWholeStory(first.output());
      expect(first.output()).toContain('/v2/service_instances/demo → 202, then succeeded');
      expect(first.output()).toContain('@kubernetes/client-node lists the namespaces');
      expect(first.output()).toContain('no kubectl on this machine');
      expect(await isReachable(publicUrlIn(first.output()))).toBe(false);
      expect(statSync(scene.file('kubeconfig')).mode & 0o777).toBe(0o600);

      const second = scene.start({ env });
      expect(await second.status()).toBe(0);
      expectWholeStory(second.output());
      expect(second.output()).toContain('→ 200, there since an earlier run');
    },
    DEMO_LIMIT_MS,
  );

  it(
    'prints a command of curl for the cluster beside the one of kubectl',
    async () => {
      const run = scene.start({ env: { ...scene.withoutKubectl(), CI: '' } });
      await run.untilSays('Ctrl-C ends the demo');
      const [withKubectl, withCurl] = suggestionsIn(run.output()).get(1) ?? [];
      expect(withKubectl).toMatch(/^kubectl --kubeconfig \S+\/kubeconfig get namespaces$/);
      expect((await typed(withCurl)).output).toContain('"kube-system"');
      const revoke = suggestionsIn(run.output()).get(3)?.[0];
      expect(await typed(revoke)).toEqual({ output: '{}\n', status: 0 });
      expect((await typed(withCurl)).output).toContain('"Failure"');
      run.child.kill('SIGINT');
      expect(await run.status()).toBe(0);
    },
    DEMO_LIMIT_MS,
  );
});

describeWith({ kubectl: true }, 'npm run demo with kubectl', () => {
  it(
    'stays up for a person, who types its commands, and `npm start` goes on where Ctrl-C has ended it',
    async () => {
      const run = scene.start({ env: { CI: 'false' } });
      await run.untilSays('Ctrl-C ends the demo');
      expectWholeStory(run.output());
      expect(run.output().split('\n').length).toBeLessThan(SCREEN_LINES);
      const suggested = suggestionsIn(run.output());
      expect([...suggested.keys()]).toEqual([1, 2, 3]);

      expect((await typed(suggested.get(1)?.[0])).output).toMatch(/kube-system +Active/);
      const fetched = await typed(suggested.get(2)?.[0]);
      const kubeconfig = scene.read('kubeconfig');
      expect(JSON.parse(fetched.output)).toMatchObject({ credentials: { kubeconfig } });

      const interruptedAt = performance.now();
      run.child.kill('SIGINT');
      expect(await run.status()).toBe(0);
      expect(performance.now() - interruptedAt).toBeLessThan(10_000);
      expect(run.output()).toContain('✓ Stop the broker');
      expect(await isReachable(publicUrlIn(run.output()))).toBe(false);

      const { host } = new URL(publicUrlIn(run.output()));
      const broker = await startEmbeddedProcess(scene.dataFolder, { RUNTIME_BROKER_LISTEN: host });
      expect((await typed(suggested.get(1)?.[0])).output).toMatch(/kube-system +Active/);
      expect(await typed(suggested.get(3)?.[0])).toEqual({ output: '{}\n', status: 0 });
      expect((await typed(suggested.get(1)?.[0])).output).toMatch(/Forbidden|Unauthorized/);
      expect(await broker.end('SIGTERM')).toBe(0);
    },
    DEMO_LIMIT_MS,
  );

  it(
    'hands a person of a second run a fresh kubeconfig, and the old one is refused',
    async () => {
      const first = scene.start({ env: { CI: '' } });
      await first.untilSays('Ctrl-C ends the demo');
      const old = scene.read('kubeconfig');
      first.child.kill('SIGINT');
      expect(await first.status()).toBe(0);

      const second = scene.start({ env: { CI: '' } });
      await second.untilSays('Ctrl-C ends the demo');
      expect([401, 403]).toContain(await namespacesBy(old));
      expect(await namespacesBy(scene.read('kubeconfig'))).toContain('kube-system');
      second.child.kill('SIGINT');
      expect(await second.status()).toBe(0);
    },
    DEMO_LIMIT_MS,
  );

  it(
    'goes when npm, which started it in a folder where nothing can be written, is told to end',
    async () => {
      const elsewhere = join(scene.folder, 'read-only');
      mkdirSync(elsewhere, { mode: 0o500 });
      const run = scene.start({ command: BY_NPM, env: { CI: '', INIT_CWD: elsewhere } });
      await run.untilSays('Ctrl-C ends the demo');
      run.child.kill('SIGTERM');
      // The pipe closes once the demo has ended too.
      await run.status();
      expect(run.output()).toContain('✓ Stop the broker');
    },
    DEMO_LIMIT_MS,
  );

  it(
    'leaves a DATABASE_URL aside, and says so',
    async () => {
      const run = scene.start({ env: { DATABASE_URL: 'postgres://me:sesame-open@127.0.0.1:9/x' } });
      expect(await run.status()).toBe(0);
      expect(run.output()).toContain('DATABASE_URL is left aside');
      expect(run.output()).not.toContain('sesame-open');
    },
    DEMO_LIMIT_MS,
  );
});

describeWith({ cluster: true, kubectl: true }, 'npm run demo on a cluster that it is given', () => {
  const KINDS = 'serviceaccounts,clusterroles,clusterrolebindings';

  function adminKubeconfigFile(): string {
    const file = join(scene.folder, 'cluster-kubeconfig');
    writeFileSync(file, sharedCluster().adminKubeconfig, { mode: 0o600 });
    return file;
  }

  /** What the broker has made for these bindings, and what the demo has made with them. */
  async function madeOnCluster(): Promise<string> {
    const admin = sharedCluster().adminKubeconfig;
    const named = await kubectl(admin, ['get', KINDS, '-A', '-o', 'name']);
    const maps = await kubectl(admin, ['get', 'configmaps', '-o', 'name']);
    const isDemos = /kyma-binding-(ci-job|yours)-|configmap\/demo-/;
    return `${named.stdout}${maps.stdout}`
      .split('\n')
      .filter((line) => isDemos.test(line))
      .join('\n');
  }

  it(
    'tells the same story there, and leaves the cluster as it was at Ctrl-C',
    async () => {
      const args = ['--kubeconfig', adminKubeconfigFile()];
      const run = scene.start({ args, env: { CI: '' } });
      await run.untilSays('Ctrl-C ends the demo');
      expect(run.output()).toContain('/v2/service_instances/demo-own-cluster → 202');
      expect(await madeOnCluster()).toMatch(/serviceaccount\/kyma-binding-yours-/);
      const [listNamespaces] = suggestionsIn(run.output()).get(1) ?? [];
      expect((await typed(listNamespaces)).output).toMatch(/kube-system +Active/);

      run.child.kill('SIGINT');
      expect(await run.status()).toBe(0);
      expect(run.output()).toContain('✓ Delete the instance "demo-own-cluster"');
      expect(await madeOnCluster()).toBe('');
      expect((await typed(listNamespaces)).output).toMatch(/Forbidden|Unauthorized/);
    },
    DEMO_LIMIT_MS,
  );

  it(
    'undoes what it has done when it is stopped in the middle',
    async () => {
      const run = scene.start({ args: ['--kubeconfig', adminKubeconfigFile()] });
      await run.untilSays('✓ Bind:');
      run.child.kill('SIGTERM');
      expect(await run.status()).toBe(143);
      expect(run.output()).toContain('Interrupted (SIGTERM).');
      expect(run.output()).toContain('✓ Delete the instance "demo-own-cluster"');
      expect(await madeOnCluster()).toBe('');
    },
    DEMO_LIMIT_MS,
  );

  it(
    'clears away what a killed run has left of another cluster, and attaches this one',
    async () => {
      const killed = scene.start({ args: ['--kubeconfig', adminKubeconfigFile()] });
      await killed.untilSays('✓ Bind:');
      killed.child.kill('SIGKILL');
      await killed.status();
      const cluster = sharedCluster();
      const other = await cluster.kubeconfigFor({
        commonName: 'another-admin',
        organizations: ['system:masters'],
      });
      const file = join(scene.folder, 'other-kubeconfig');
      writeFileSync(file, other, { mode: 0o600 });
      const run = scene.start({ args: ['--kubeconfig', file] });
      expect(await run.status()).toBe(0);
      expect(run.output()).toContain('→ 202, then succeeded');
      expect(await madeOnCluster()).toBe('');
    },
    DEMO_LIMIT_MS,
  );

  it(
    'shows why the broker refuses a kubeconfig, and how to make one that it takes',
    async () => {
      const file = join(scene.folder, 'with-a-program');
      writeFileSync(file, KUBECONFIG_WITH_A_PROGRAM);
      const run = scene.start({ args: ['--kubeconfig', file] });
      expect(await run.status()).toBe(1);
      expect(run.output()).toContain('kubeconfig: users[].user.exec is not allowed');
      expect(run.output()).toContain('kubectl config view --raw --minify --flatten');
      expect(run.output()).not.toContain('Delete the instance');
    },
    DEMO_LIMIT_MS,
  );
});

const KUBECONFIG_WITH_A_PROGRAM = `
apiVersion: v1
kind: Config
current-context: it
contexts: [{name: it, context: {cluster: it, user: it}}]
clusters: [{name: it, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: it, user: {exec: {command: some-cloud, apiVersion: client.authentication.k8s.io/v1}}}]
`;
