// Stock kubectl on a sandbox cluster: what people type in the first hour.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';

import { kubectl } from '../../support/kubectl.ts';
import { describeWith } from '../../support/needs.ts';
import { startTestSandbox, type TestCluster, type TestSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

interface Shown {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

describeWith({ kubectl: true }, 'kubectl on a sandbox cluster', () => {
  let sandbox: TestSandbox;
  let cluster: TestCluster;

  beforeAll(async () => {
    sandbox = await startTestSandbox({ controllers: true });
    cluster = sandbox.openCluster('people');
  });
  afterAll(() => sandbox.stop());

  /** Succeeds, or says what kubectl said. */
  async function run(command: string, input = ''): Promise<string> {
    const { status, stdout, stderr } = await kubectl(cluster.adminKubeconfig, command.split(' '), {
      input,
    });
    if (status !== 0) throw new Error(`kubectl ${command}: ${stderr}`);
    return stdout;
  }

  it('gets tables for people and objects for programs', async () => {
    const [head = '', ...rows] = (await run('get namespaces')).split('\n');
    expect(head).toMatch(/^NAME +STATUS +AGE$/);
    expect(rows.join('\n')).toMatch(/^kube-system +Active +\d+s$/m);
    expect(await run('get ns default -o jsonpath={.metadata.name}')).toBe('default');
    expect(await run('get ns -o wide --show-labels')).toContain(
      'kubernetes.io/metadata.name=default',
    );
    expect(await run('get serviceaccounts -A')).toMatch(/^default +default +\d+s$/m);
    await expect(run('get pods none')).rejects.toThrow('pods "none" not found');
  });

  it('creates, applies, edits, shows the difference and deletes', async () => {
    await run('create namespace shop');
    await run('create configmap settings -n shop --from-literal=a=b');
    expect(await run('get configmap settings -n shop -o jsonpath={.data}')).toBe('{"a":"b"}');
    const manifest = (env: readonly object[]): string =>
      JSON.stringify({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', namespace: 'shop' },
        spec: {
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: { containers: [{ name: 'main', image: 'web:1', env }] },
          },
        },
      });
    const two = manifest([
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ]);
    expect(await run('apply -f -', two)).toBe('deployment.apps/web created\n');
    expect(await run('apply -f -', two)).toBe('deployment.apps/web unchanged\n');
    await run('set env deployment/web -n shop C=3');
    // What somebody else has added stays; what is no longer applied goes.
    const one = manifest([{ name: 'A', value: '9' }]);
    expect(await run('apply -f -', one)).toBe('deployment.apps/web configured\n');
    const env = await run('get deployment web -n shop -o jsonpath={..env}');
    expect(JSON.parse(env)).toEqual([
      { name: 'A', value: '9' },
      { name: 'C', value: '3' },
    ]);
    await run('label deployment web -n shop tier=front');
    expect(await run('get deployments -n shop -l tier=front -o name')).toBe(
      'deployment.apps/web\n',
    );
    await run(
      'patch deployment web -n shop --type=json -p [{"op":"remove","path":"/metadata/labels"}]',
    );
    expect(await run('get deployments -n shop -l tier=front -o name')).toBe('');
    expect(await run('describe deployment web -n shop')).toContain('Name:                   web');
    await run('delete namespace shop');
    expect(await run('get configmaps -n shop -o name --ignore-not-found')).toBe('');
    await expect(run('get namespace shop')).rejects.toThrow('namespaces "shop" not found');
  });

  it('applies a list of objects', async () => {
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: ['one', 'two'].map((name) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'default' },
      })),
    };
    expect(await run('apply -f -', JSON.stringify(list))).toBe(
      'configmap/one created\nconfigmap/two created\n',
    );
    await run('delete configmap one two');
  });

  it('asks what it may do, and who it is', async () => {
    expect(await run('auth can-i * *')).toBe('yes\n');
    expect(await run('auth can-i --list')).toMatch(/^\*\.\* +\[\] +\[\] +\[\*\]$/m);
    expect(await run('auth whoami -o jsonpath={.status.userInfo.username}')).toBe('sandbox-admin');
    const nobody = await cluster.kubeconfigFor({
      commonName: 'nobody',
      organizations: ['readers'],
    });
    const may = await kubectl(nobody, ['auth', 'can-i', 'get', 'pods']);
    expect(may).toMatchObject({ status: 1, stdout: 'no\n' });
    const who = await kubectl(nobody, [
      'auth',
      'whoami',
      '-o',
      'jsonpath={.status.userInfo.groups}',
    ]);
    expect(who.stdout).toBe('["readers","system:authenticated"]');
  });

  it('lists what the cluster knows, resources of one’s own among them', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'runtimes.infrastructuremanager.kyma-project.io' },
      spec: {
        group: 'infrastructuremanager.kyma-project.io',
        scope: 'Namespaced',
        names: { plural: 'runtimes', singular: 'runtime', kind: 'Runtime', shortNames: ['rt'] },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: {
              openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        ],
      },
    };
    await run('apply -f -', JSON.stringify(definition));
    const known = await run('api-resources');
    expect(known).toMatch(/^configmaps +cm +v1 +true +ConfigMap$/m);
    expect(known).toMatch(
      /^runtimes +rt +infrastructuremanager\.kyma-project\.io\/v1 +true +Runtime$/m,
    );
    const runtime = {
      apiVersion: 'infrastructuremanager.kyma-project.io/v1',
      kind: 'Runtime',
      metadata: { name: 'mine', namespace: 'default' },
      spec: { shoot: { name: 'mine' } },
    };
    expect(await run('apply -f -', JSON.stringify(runtime))).toContain('mine created');
    await run('patch rt mine --subresource=status --type=merge -p {"status":{"state":"Ready"}}');
    await run('patch rt mine --type=merge -p {"status":{"state":"Lost"},"spec":{"more":1}}');
    const shown = JSON.parse(await run('get rt mine -o json')) as Shown;
    expect(shown).toMatchObject({
      status: { state: 'Ready' },
      spec: { shoot: { name: 'mine' }, more: 1 },
      metadata: { generation: 2 },
    });
    await run('delete crd runtimes.infrastructuremanager.kyma-project.io');
    await expect(run('get rt')).rejects.toThrow("doesn't have a resource type");
  });

  it.each([
    'create deployment web --image=web:1 --replicas=0 --port=80',
    'create service clusterip web --tcp=80:8080',
    'create secret generic s --from-literal=a=b --type=example.com/s',
    'create serviceaccount worker',
    'create role reader --verb=get,list --resource=pods,deployments.apps --resource-name=x',
    'create rolebinding readers --role=reader --user=u --group=g --serviceaccount=default:worker',
    'create quota q --hard=pods=2,cpu=500m',
    'create job j --image=web:1 -- sh -c true',
    'create cronjob c --image=web:1 --schedule=@daily',
    'create ingress i --rule=example.com/a*=web:80,tls=s --class=c',
    'create poddisruptionbudget p --selector=app=web --min-available=50%',
    'create clusterrole probe --verb=get --non-resource-url=/healthz',
    'create clusterrole all --aggregation-rule=a=b',
  ])('keeps what kubectl %s makes, which is sent in the binary form', async (command) => {
    const rendered = await run(
      `${command.replace(' -- ', ' --dry-run=client -o json -- ')}${command.includes(' -- ') ? '' : ' --dry-run=client -o json'}`,
    );
    const wanted = JSON.parse(rendered) as Shown;
    await run(command);
    const name = String(wanted.metadata['name']);
    const kind = String(wanted['kind']);
    const kept = JSON.parse(await run(`get ${kind} ${name} -o json`)) as Shown;
    expect(await run(`describe ${kind} ${name}`)).toContain(name);
    await run(`delete ${kind} ${name}`);
    const { status: _, ...rest } = withoutEmpty(wanted) as Shown;
    expect(kept).toMatchObject(rest);
  });

  it('makes tokens that serve until their account goes', async () => {
    await run('create serviceaccount robot');
    const token = (await run('create token robot --duration=10m')).trim();
    const { server, ca } = cluster;
    const file = JSON.stringify(
      {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [
          {
            name: 'a',
            cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
          },
        ],
        users: [{ name: 'a', user: { token } }],
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
        'current-context': 'a',
      },
      undefined,
      1,
    );
    const who = await kubectl(file, [
      'auth',
      'whoami',
      '-o',
      'jsonpath={.status.userInfo.username}',
    ]);
    expect(who.stdout).toBe('system:serviceaccount:default:robot');
    expect((await kubectl(file, ['get', 'pods'])).stderr).toContain(
      'User "system:serviceaccount:default:robot" cannot list resource "pods" in API group ""',
    );
    await run('create rolebinding robot --clusterrole=view --serviceaccount=default:robot');
    expect(await kubectl(file, ['get', 'pods'])).toMatchObject({ status: 0 });
    expect((await kubectl(file, ['get', 'secrets'])).status).toBe(1);
  });

  it('watches, and sees what comes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'runtime-broker-watch-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'kubeconfig');
    writeFileSync(file, cluster.adminKubeconfig, { mode: 0o600 });
    const program = inject('parts').kubectl;
    if (!program.found) throw new Error(program.howToGet);
    const args = [`--kubeconfig=${file}`, 'get', 'configmaps', '-w', '-o', 'name'];
    const child = spawn(program.path, args, {
      env: { HOME: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let seen = '';
    child.stdout.on('data', (text) => {
      seen += String(text);
    });
    let made = 0;
    await until({
      what: 'kubectl has seen an object that was made while it watched',
      limitMs: 15_000,
      async isSo() {
        made += 1;
        await run(`create configmap watched-${made}`);
        return seen.includes('configmap/watched-');
      },
    });
    child.kill('SIGTERM');
    await once(child, 'close');
    expect(seen).toMatch(/^(configmap\/watched-\d+\n)+$/);
  });

  it('is told that a cluster that was removed is not there', async () => {
    const gone = sandbox.openCluster('gone');
    expect(await kubectl(gone.adminKubeconfig, ['get', 'ns'])).toMatchObject({ status: 0 });
    sandbox.sandbox.removeCluster('gone');
    expect((await kubectl(gone.adminKubeconfig, ['get', 'ns'])).status).toBe(1);
    expect(sandbox.sandbox.hasCluster('gone')).toBe(false);
  });
});

/** kubectl prints empty fields that it does not send. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(
    ([field, inner]) => [field, withoutEmpty(inner)] as const,
  );
  return Object.fromEntries(
    entries.filter(
      ([, inner]) =>
        inner !== null && !(typeof inner === 'object' && Object.keys(inner).length === 0),
    ),
  );
}
