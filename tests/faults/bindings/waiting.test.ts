// A bind of what another request is issuing waits for it and gets its credential, or goes on where it has failed or died
// (docs/api.md, "Bind").
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';
import type { TestBroker } from '../../support/broker.ts';
import { type BrokerProcess, startBrokerProcess } from '../../support/broker-process.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { describeWith } from '../../support/needs.ts';
import type { Platform } from '../../support/platform.ts';
import { until } from '../../support/until.ts';

interface NamedBinding {
  readonly instance: string;
  readonly binding: string;
}

const ACCOUNT = /^POST .*\/serviceaccounts$/;
const TOKEN = /^POST .*\/token$/;
const UNDO = /^(GET|PATCH|DELETE) .*kyma-binding-/;

const CE = { status: 422, body: { error: 'ConcurrencyError' } };

/** A bind that waits at its account until it is released. */
async function issueOnHold(platform: Platform, proxy: ClusterProxy, ids: NamedBinding) {
  const held = proxy.misbehave({ on: ACCOUNT, act: { kind: 'hold' }, times: 1 });
  const binding = platform.bind(ids);
  await until({ what: 'the issue is held', limitMs: 10_000, isSo: () => held.seen() === 1 });
  return { binding, release: () => held.end() };
}

async function timed<T>(asked: Promise<T>): Promise<{ answer: T; tookMs: number }> {
  const startedAt = performance.now();
  const answer = await asked;
  return { answer, tookMs: performance.now() - startedAt };
}

describeOnEngines('a bind of what is being issued', { cluster: true }, (engine) => {
  let scene: Scene;
  let proxy: ClusterProxy;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene({ engine });
    proxy = await openClusterProxy(scene.cluster);
    instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
  });

  afterEach(() => proxy.behave());

  afterAll(async () => {
    await proxy.stop();
    await scene.close();
  });

  it('gets the same credential once it is there: 200', async () => {
    const ids = { instance, binding: newId('same') };
    const { binding, release } = await issueOnHold(scene.platform, proxy, ids);
    const repeats = Array.from({ length: 5 }, () => scene.platform.bind(ids));
    await scene.untilAwaited(ids.binding);
    release();
    const { status, body } = await binding;
    expect(status).toBe(201);
    for (const repeat of repeats) expect(await repeat).toMatchObject({ status: 200, body });
    await scene.platform.unbind(ids);
  });

  it('issues anew when it has failed and was undone: 201', async () => {
    const ids = { instance, binding: newId('anew') };
    const { binding, release } = await issueOnHold(scene.platform, proxy, ids);
    proxy.misbehave({ on: TOKEN, act: { kind: 'answer', status: 500 }, times: 1 });
    const repeat = scene.platform.bind(ids);
    await scene.untilAwaited(ids.binding);
    release();
    expect((await binding).status).toBe(503);
    const { status, body } = await repeat;
    expect(status).toBe(201);
    expect(await scene.eyes.statusWith(body.credentials.token)).toBe(200);
    expect(await scene.objects(ids.binding)).toHaveLength(3);
    await scene.platform.unbind(ids);
  });
});

describeWith({ postgres: true, cluster: true }, 'a bind that waits for another replica', () => {
  let scene: Scene;
  let replica: TestBroker;
  /** Waits for a second and no longer. */
  let hasty: TestBroker;
  let proxy: ClusterProxy;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene();
    replica = await scene.openReplica();
    hasty = await scene.openReplica({ configFile: 'createTimeoutSeconds: 1' });
    proxy = await openClusterProxy(scene.cluster);
    instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
  });

  afterEach(() => proxy.behave());

  afterAll(async () => {
    await proxy.stop();
    await scene.close();
  });

  const grantsOf = (ids: NamedBinding) =>
    scene.ledger.sql<{ ended_at: Date | null; version: string }>(
      'select ended_at, xmin::text as version from grants where binding_id = $1',
      [ids.binding],
    );

  it('gets its credential at once, without having looked in between', async () => {
    const ids = { instance, binding: newId('awaited') };
    const { binding, release } = await issueOnHold(scene.platform, proxy, ids);
    const repeat = replica.platform.bind(ids);
    await scene.untilAwaited(ids.binding);
    // Each look marks the row, and so makes a new version of it.
    const before = await grantsOf(ids);
    await pause(1_500);
    expect(await grantsOf(ids)).toEqual(before);
    release();
    const issued = await binding;
    const { answer, tookMs } = await timed(repeat);
    expect(answer).toMatchObject({ status: 200, body: issued.body });
    expect(tookMs).toBeLessThan(1_000);
    await scene.platform.unbind(ids);
  });

  it('is told to come again when the create limit passes, and has changed nothing: CE', async () => {
    const ids = { instance, binding: newId('hasty') };
    const { binding, release } = await issueOnHold(scene.platform, proxy, ids);
    const { answer, tookMs } = await timed(hasty.platform.bind(ids));
    expect(answer).toMatchObject(CE);
    expect(tookMs).toBeGreaterThanOrEqual(1_000);
    expect(tookMs).toBeLessThan(4_000);
    release();
    expect((await binding).status).toBe(201);
    expect(await grantsOf(ids)).toHaveLength(1);
    await scene.platform.unbind(ids);
  });

  it('is told to come again when the issue has failed and cannot be undone: CE', async () => {
    const ids = { instance, binding: newId('resisting') };
    const { binding, release } = await issueOnHold(scene.platform, proxy, ids);
    const act = { kind: 'answer', status: 500 } as const;
    proxy.misbehave({ on: TOKEN, act, times: 1 });
    proxy.misbehave({ on: UNDO, act });
    const repeat = replica.platform.bind(ids);
    await scene.untilAwaited(ids.binding);
    release();
    expect((await binding).status).toBe(503);
    expect(await repeat).toMatchObject(CE);
    proxy.behave();
    expect((await replica.platform.bind(ids)).status).toBe(201);
    expect(await scene.objects(ids.binding)).toHaveLength(3);
    await scene.platform.unbind(ids);
  });

  it('is told to come again when its instance goes meanwhile: CE', async () => {
    const going = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
    const ids = { instance: going, binding: newId('going') };
    const { binding, release } = await issueOnHold(scene.platform, proxy, ids);
    const repeat = replica.platform.bind(ids);
    await scene.untilAwaited(ids.binding);
    expect((await replica.platform.deprovision(ids)).status).toBe(202);
    release();
    expect(await binding).toMatchObject(CE);
    // 404 where the instance has gone before it could look.
    expect((await repeat).status).toBeOneOf([404, 422]);
    expect(await scene.objects(ids.binding)).toEqual([]);
  });

  describe('and finds that a DELETE has stopped it', () => {
    it('waits until its writer has undone it, and issues anew: 201', async () => {
      const ids = { instance, binding: newId('stopped') };
      const { binding, release } = await issueOnHold(scene.platform, proxy, ids);
      const unbinding = replica.platform.unbind(ids);
      await scene.untilAwaited(ids.binding);
      const rebinding = replica.platform.bind(ids);
      const hastily = await hasty.platform.bind(ids);
      expect(hastily).toMatchObject(CE);
      release();
      expect(await binding).toMatchObject(CE);
      expect((await unbinding).status).toBe(200);
      const rebound = await rebinding;
      expect(rebound.status).toBe(201);
      expect(await scene.eyes.statusWith(rebound.body.credentials.token)).toBe(200);
      expect(await scene.objects(ids.binding)).toHaveLength(3);
      const open = (await grantsOf(ids)).filter(({ ended_at }) => ended_at === null);
      expect(open).toHaveLength(1);
      await scene.platform.unbind(ids);
    });
  });

  it('takes over within the wait when that replica is killed: 201', async () => {
    const doomed: BrokerProcess = await startBrokerProcess({
      databaseUrl: scene.databaseUrl,
      env: scene.env,
    });
    const ids = { instance, binding: newId('killed') };
    const held = proxy.misbehave({ on: TOKEN, act: { kind: 'hold-answer' }, times: 1 });
    const binding = doomed.platform.bind(ids).catch(() => 'hung up');
    await until({ what: 'the issue is held', limitMs: 10_000, isSo: () => held.seen() === 1 });
    const left = await scene.objects(ids.binding);
    expect(left.length).toBeGreaterThan(0);
    const repeat = timed(replica.platform.bind(ids));
    await scene.untilAwaited(ids.binding);
    await doomed.end('SIGKILL');
    expect(await binding).toBe('hung up');

    const { answer, tookMs } = await repeat;

    expect(answer.status).toBe(201);
    expect(tookMs).toBeLessThan(15_000);
    expect(await scene.eyes.statusWith(answer.body.credentials.token)).toBe(200);
    const uids = new Set(left.map(({ metadata }) => metadata.uid));
    const now = await scene.objects(ids.binding);
    expect(now).toHaveLength(3);
    expect(now.filter(({ metadata }) => uids.has(metadata.uid))).toEqual([]);
    held.end();
    await scene.platform.unbind(ids);
  });
});
