// Faults of a sandbox on demand, as a client meets them: the broker's own client among others.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { ClusterClient } from '../../../src/kubernetes/cluster-client.ts';
import { readKubeconfig } from '../../../src/kubernetes/read-kubeconfig.ts';
import { type RawClient, rawClient } from '../../support/raw-requests.ts';
import { startTestSandbox, type TestCluster, type TestSandbox } from '../../support/sandbox.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

describe('a sandbox that is told to misbehave', () => {
  let sandbox: TestSandbox;
  let cluster: TestCluster;
  let client: RawClient;
  let made = 0;

  beforeAll(async () => {
    sandbox = await startTestSandbox();
    cluster = sandbox.openCluster('a');
    client = rawClient(cluster.adminKubeconfig);
  });
  afterEach(() => sandbox.sandbox.faults.clear());
  afterAll(() => sandbox.stop());

  const list = () => client({ method: 'GET', path: MAPS });
  const create = (name: string) =>
    client({ method: 'POST', path: MAPS, body: { metadata: { name } } });
  const statusOf = async (name: string): Promise<number> =>
    (await client({ method: 'GET', path: `${MAPS}/${name}` })).status;
  const fresh = (): string => {
    made += 1;
    return `map-${made}`;
  };
  const inject = (...args: Parameters<TestSandbox['sandbox']['faults']['inject']>) =>
    sandbox.sandbox.faults.inject(...args);

  it('answers with a status instead of carrying out, as often as said', async () => {
    const name = fresh();
    const fault = inject({
      on: /^POST \/clusters\/a\/.*\/configmaps$/,
      act: { kind: 'answer', status: 429, headers: { 'retry-after': '7' } },
      times: 2,
    });
    expect(await create(name)).toMatchObject({ status: 429 });
    expect(await statusOf(name)).toBe(404);
    expect(await create(name)).toMatchObject({ status: 429 });
    expect(await create(name)).toMatchObject({ status: 201 });
    expect(fault.seen()).toBe(2);
  });

  it('spares other methods, paths and clusters', async () => {
    inject({ on: /^GET \/clusters\/a\/.*configmaps/, act: { kind: 'answer', status: 500 } });
    const other = rawClient(sandbox.openCluster('b').adminKubeconfig);
    expect(await list()).toMatchObject({ status: 500 });
    expect(await create(fresh())).toMatchObject({ status: 201 });
    expect(await client({ method: 'GET', path: '/api/v1/pods' })).toMatchObject({ status: 200 });
    expect(await other({ method: 'GET', path: MAPS })).toMatchObject({ status: 200 });
  });

  it('hangs before the headers, and goes on when the fault ends', async () => {
    const name = fresh();
    const fault = inject({ on: /^POST /, act: { kind: 'hang' } });
    const pending = create(name);
    await fault.met(1);
    expect(await statusOf(name)).toBe(404);
    fault.end();
    expect(await pending).toMatchObject({ status: 201 });
    expect(await statusOf(name)).toBe(200);
  });

  it('carries out and hangs before the answer', async () => {
    const name = fresh();
    const fault = inject({ on: /^POST /, act: { kind: 'hang-answer' } });
    const pending = create(name);
    await expect.poll(() => statusOf(name)).toBe(200);
    fault.end();
    expect(await pending).toMatchObject({ status: 201 });
  });

  it('does not carry out what its client has given up', async () => {
    const name = fresh();
    const own = new ClusterClient(readKubeconfig(cluster.adminKubeconfig), {
      limits: { totalMs: 50 },
    });
    const fault = inject({ on: /^POST /, act: { kind: 'hang' } });
    const call = {
      method: 'POST',
      path: MAPS,
      body: { metadata: { name } },
      action: 'create configmaps',
      expect: ['ConfigMap'],
    } as const;
    await expect(own.request(call)).rejects.toMatchObject({ reason: 'timed-out' });
    await own.close();
    await expect.poll(() => fault.holding()).toBe(0);
    fault.end();
    expect(await create(`${name}-later`)).toMatchObject({ status: 201 });
    expect(await statusOf(name)).toBe(404);
  });

  it.each([
    ['before it is carried out', 'cut', 404],
    ['after it was carried out', 'cut-answer', 200],
    ['in the middle of the answer', 'cut-body', 200],
  ] as const)('cuts the connection %s', async (_, kind, afterwards) => {
    const name = fresh();
    inject({ on: /^POST /, act: { kind }, times: 1 });
    await expect(create(name)).rejects.toThrow(/socket hang up|ECONNRESET|aborted/);
    expect(await statusOf(name)).toBe(afterwards);
  });

  it('is late, or slow', async () => {
    const before = performance.now();
    inject({ on: /^GET /, act: { kind: 'delay', ms: 60 }, times: 1 });
    inject({ on: /^GET /, act: { kind: 'slow-body', pieces: 3, pauseMs: 20 }, times: 1 });
    expect(await list()).toMatchObject({ status: 200 });
    expect(performance.now() - before).toBeGreaterThanOrEqual(59);
    const slow = performance.now();
    const { text } = await list();
    expect(performance.now() - slow).toBeGreaterThanOrEqual(59);
    expect(JSON.parse(text)).toMatchObject({ kind: 'ConfigMapList' });
  });

  it('cuts what is in flight when it stops, and can be started again', async () => {
    const own = await startTestSandbox();
    const raw = rawClient(own.openCluster('a').adminKubeconfig);
    const fault = own.sandbox.faults.inject({
      on: /configmaps/,
      act: { kind: 'slow-body', pieces: 2, pauseMs: 60_000 },
    });
    const pending = raw({ method: 'GET', path: MAPS });
    const outcome = pending.then(
      () => 'answered',
      () => 'cut',
    );
    await fault.met(1);
    await own.stop();
    expect(await outcome).toBe('cut');
    await own.stop();
    await own.sandbox.start({ host: '127.0.0.1', port: 0 });
    expect(await raw({ method: 'GET', path: '/api/v1/pods' })).toMatchObject({ status: 200 });
    await own.stop();
  });
});
