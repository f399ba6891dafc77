// What a sandbox keeps: its clusters, however it ended.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

import { fileStore } from '../../../src/sandbox-cluster/store/file-store.ts';
import { memoryStore } from '../../../src/sandbox-cluster/store/memory-store.ts';
import type { SandboxStore } from '../../../src/sandbox-cluster/store/sandbox-store.ts';
import { recordSecret } from '../../support/leak-record.ts';
import { rawClient } from '../../support/raw-requests.ts';
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts';

const PROGRAM = fileURLToPath(new URL('./sandbox-process.ts', import.meta.url));
const MAPS = '/api/v1/namespaces/default/configmaps';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runtime-broker-sandbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function started(store: SandboxStore): Promise<TestSandbox> {
  const sandbox = await startTestSandbox({ store });
  onTestFinished(() => sandbox.stop());
  return sandbox;
}

interface Listed {
  readonly items: readonly { readonly metadata: { readonly name: string; readonly uid: string } }[];
  readonly metadata: { readonly resourceVersion: string };
}

async function list(kubeconfig: string, path: string): Promise<Listed> {
  return JSON.parse((await rawClient(kubeconfig)({ method: 'GET', path })).text) as Listed;
}

describe('a sandbox that starts again', () => {
  it.each([
    ['in memory', () => memoryStore()],
    ['in files', () => fileStore(newFolder())],
  ])(
    'finds its clusters %s, at the same address and with the same credentials',
    async (_, open) => {
      const store = open();
      const first = await started(store);
      const before = first.openCluster('a');
      const other = first.openCluster('b');
      const client = rawClient(before.adminKubeconfig);
      const account = '/api/v1/namespaces/default/serviceaccounts';
      await client({ method: 'POST', path: account, body: { metadata: { name: 'robot' } } });
      const answer = await client({
        method: 'POST',
        path: `${account}/robot/token`,
        body: { spec: {} },
      });
      const { status } = JSON.parse(answer.text) as { status: { token: string } };
      recordSecret('token of an account', status.token);
      const byCertificate = await before.kubeconfigFor({
        commonName: 'x',
        organizations: ['system:masters'],
      });
      await client({ method: 'POST', path: MAPS, body: { metadata: { name: 'kept' } } });
      await client({ method: 'POST', path: MAPS, body: { metadata: { name: 'gone' } } });
      await client({ method: 'DELETE', path: `${MAPS}/gone` });
      const seen = await list(before.adminKubeconfig, MAPS);
      first.sandbox.removeCluster('b');
      await first.stop();

      const second = await started(store);
      expect(second.sandbox.clusterNames()).toEqual(['a']);
      const after = second.openCluster('a');
      expect(after).toMatchObject({
        server: before.server,
        ca: before.ca,
        uid: before.uid,
        adminKubeconfig: before.adminKubeconfig,
      });
      expect(await list(after.adminKubeconfig, MAPS)).toEqual(seen);
      expect(await list(byCertificate, MAPS)).toEqual(seen);
      const who = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
      expect(
        await client({ method: 'POST', path: who, body: {}, token: status.token }),
      ).toMatchObject({ status: 201 });
      // One of the same name is another cluster.
      expect(second.openCluster('b').uid).not.toBe(other.uid);
    },
  );

  it('after kill -9 has every object that it had answered for', { timeout: 60_000 }, async () => {
    const folder = newFolder();
    const process_ = spawn(process.execPath, [PROGRAM, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void process_.kill('SIGKILL'));
    const [line] = (await once(createInterface({ input: process_.stdout }), 'line')) as [string];
    const kubeconfig = JSON.parse(line) as string;
    const client = rawClient(kubeconfig);
    const answered: string[] = [];
    let isOver = false;
    const write = async (writer: number): Promise<void> => {
      for (let count = 0; !isOver; count += 1) {
        const name = `map-${writer}-${count}`;
        const body = { metadata: { name }, data: { filling: 'x'.repeat(10_000) } };
        const answer = await client({ method: 'POST', path: MAPS, body }).catch(() => undefined);
        if (answer?.status === 201) answered.push(name);
        if (answered.length === 40) process_.kill('SIGKILL');
      }
    };
    const writers = [1, 2, 3, 4].map(write);
    await once(process_, 'close');
    isOver = true;
    await Promise.all(writers);

    const after = await started(fileStore(folder));
    const kept = await list(after.openCluster('kept').adminKubeconfig, MAPS);
    expect(kept.items.map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(answered),
    );
    expect(after.openCluster('kept').adminKubeconfig).toBe(kubeconfig);
  });

  it('goes on after a line that a crash has torn', async () => {
    const folder = newFolder();
    const first = await started(fileStore(folder));
    const before = first.openCluster('a');
    await rawClient(before.adminKubeconfig)({
      method: 'POST',
      path: MAPS,
      body: { metadata: { name: 'x' } },
    });
    await first.stop();
    appendFileSync(join(folder, 'clusters', 'a.jsonl'), '{"put":{"apiVersion":"v1","ki');
    for (const name of ['y', 'z']) {
      const next = await started(fileStore(folder));
      const client = rawClient(next.openCluster('a').adminKubeconfig);
      expect(
        await client({ method: 'POST', path: MAPS, body: { metadata: { name } } }),
      ).toMatchObject({ status: 201 });
      await next.stop();
    }
    const last = await started(fileStore(folder));
    const { items } = await list(last.openCluster('a').adminKubeconfig, MAPS);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['x', 'y', 'z']);
  });

  it('tells a watch from before that it must start over', async () => {
    const store = memoryStore();
    const first = await started(store);
    const before = first.openCluster('a');
    const { metadata } = await list(before.adminKubeconfig, MAPS);
    await rawClient(before.adminKubeconfig)({
      method: 'POST',
      path: MAPS,
      body: { metadata: { name: 'x' } },
    });
    await first.stop();
    const second = await started(store);
    const client = rawClient(second.openCluster('a').adminKubeconfig);
    const path = `${MAPS}?watch=true&resourceVersion=${metadata.resourceVersion}`;
    const { text } = await client({ method: 'GET', path });
    expect(JSON.parse(text)).toMatchObject({
      type: 'ERROR',
      object: { code: 410, reason: 'Expired' },
    });
  });

  it('keeps its files from others', async () => {
    const folder = newFolder();
    const first = await started(fileStore(folder));
    first.openCluster('a');
    const names = ['identity.json', join('clusters', 'a.jsonl')];
    for (const name of names) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
  });

  it('does not move to another port when its own is taken', async () => {
    const store = memoryStore();
    const first = await started(store);
    await first.stop();
    const squatter = await started(memoryStore());
    const port = Number(new URL(squatter.sandbox.url).port);
    const identity = store.readIdentity();
    if (identity === undefined) throw new Error('nothing was kept');
    store.writeIdentity({ ...identity, port });
    await expect(startTestSandbox({ store })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
