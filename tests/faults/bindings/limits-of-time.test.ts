// A cluster that is slow or silent: an issue stops at the create limit and is undone within five seconds more, a DELETE
// answers at fifteen, and nobody else's requests wait for it (docs/api.md, "Bind" and "Unbind"; KEB defect 6).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeWith } from '../../support/needs.ts';
import type { Platform } from '../../support/platform.ts';
import { until } from '../../support/until.ts';
import { expectErrorBody } from '../../integration/bindings/refusals.ts';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';

const CREATE_LIMIT_MS = 1_000;
const UNDO_LIMIT_MS = 5_000;
const DELETE_LIMIT_MS = 15_000;

/** For a machine that is busy with these and with other tests. */
const SLACK_MS = 5_000;

const CALLS = {
  'the account': /^POST .*\/serviceaccounts$/,
  'the token': /^POST .*\/token$/,
  'the role': /^POST .*\/clusterroles$/,
  'the role binding': /^POST .*\/clusterrolebindings$/,
};

const MOMENTS = Object.entries(CALLS).flatMap(([call, on]) => [
  { call, on, when: 'before it arrives', act: { kind: 'hold' } as const },
  { call, on, when: 'after it arrived', act: { kind: 'hold-answer' } as const },
]);

describeWith({ postgres: true, cluster: true }, 'a cluster that takes its time', () => {
  let scene: Scene;
  /** With the limit of the built-in configuration, for what is to succeed on any machine. */
  let patient: Platform;
  const proxies: ClusterProxy[] = [];

  beforeAll(async () => {
    scene = await openScene({ configFile: 'createTimeoutSeconds: 1' });
    patient = (await scene.openReplica()).platform;
  });

  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await scene.close();
  });

  /** One for each test, since they wait side by side. */
  async function clusterOfItsOwn() {
    const proxy = await openClusterProxy(scene.cluster);
    proxies.push(proxy);
    return { proxy, instance: await scene.attach({ kubeconfig: proxy.adminKubeconfig }) };
  }

  async function timed<T>(ask: () => Promise<T>): Promise<{ answer: T; tookMs: number }> {
    const startedAt = performance.now();
    const answer = await ask();
    return { answer, tookMs: performance.now() - startedAt };
  }

  it.concurrent.each(MOMENTS)(
    'KEB defect 6: a cluster holds $call $when: 503 at the create limit, nothing left',
    async ({ on, act }) => {
      const { proxy, instance } = await clusterOfItsOwn();
      const ids = { instance, binding: newId('held') };
      proxy.misbehave({ on, act, times: 1 });

      const { answer, tookMs } = await timed(() => scene.platform.bind(ids));

      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('5');
      expectErrorBody(answer);
      expect(tookMs).toBeGreaterThanOrEqual(CREATE_LIMIT_MS);
      expect(tookMs).toBeLessThan(CREATE_LIMIT_MS + SLACK_MS);
      expect(await scene.objects(ids.binding)).toEqual([]);
      expect((await scene.platform.bindingOperation(ids)).body).toMatchObject({ state: 'failed' });
      proxy.behave();
      expect((await patient.bind(ids)).status).toBe(201);
      await scene.platform.unbind(ids);
    },
  );

  it.concurrent('does not say who it is: 503 at the create limit, and nothing was made', async () => {
    const { proxy, instance } = await clusterOfItsOwn();
    const ids = { instance, binding: newId('unasked') };
    proxy.misbehave({ on: /^GET .*kube-system$/, act: { kind: 'hold' } });
    const { answer, tookMs } = await timed(() => scene.platform.bind(ids));
    expect(answer.status).toBe(503);
    expect(tookMs).toBeLessThan(CREATE_LIMIT_MS + SLACK_MS);
    expect(await scene.objects(ids.binding)).toEqual([]);
  });

  it.concurrent('holds an issue that a DELETE stops: 200 once its writer has given up', async () => {
    const { proxy, instance } = await clusterOfItsOwn();
    const ids = { instance, binding: newId('stopped') };
    const held = proxy.misbehave({ on: CALLS['the token'], act: { kind: 'hold' } });
    const binding = scene.platform.bind(ids);
    await until({ what: 'the issue is held', limitMs: 10_000, isSo: () => held.seen() === 1 });
    const { answer, tookMs } = await timed(() => patient.unbind(ids));
    // On a machine that is busy enough, the limit may be over before the DELETE arrives.
    expect(answer.status).toBeOneOf([200, 410]);
    expect(tookMs).toBeLessThan(CREATE_LIMIT_MS + SLACK_MS);
    expect((await binding).status).toBeOneOf([422, 503]);
    expect(await scene.objects(ids.binding)).toEqual([]);
  });

  it.concurrent('answers each call late, but in time: 201', async () => {
    const { proxy, instance } = await clusterOfItsOwn();
    const ids = { instance, binding: newId('slow') };
    proxy.misbehave({ on: /./, act: { kind: 'delay', ms: 500 } });
    expect((await patient.bind(ids)).status).toBe(201);
    expect((await scene.platform.unbind(ids)).status).toBe(200);
    expect(await scene.objects(ids.binding)).toEqual([]);
  });

  describe('and answers nothing any more', () => {
    it.concurrent('an issue is 503 once the undo was given its time too, and a repeat settles it', async () => {
      const { proxy, instance } = await clusterOfItsOwn();
      const ids = { instance, binding: newId('silent') };
      proxy.misbehave({ on: /\/token$/, act: { kind: 'hold' } });
      proxy.misbehave({ on: /^(GET|PATCH|DELETE) .*kyma-binding-/, act: { kind: 'hold' } });

      const { answer, tookMs } = await timed(() => scene.platform.bind(ids));

      expect(answer.status).toBe(503);
      expectErrorBody(answer);
      expect(tookMs).toBeGreaterThanOrEqual(CREATE_LIMIT_MS + UNDO_LIMIT_MS);
      expect(tookMs).toBeLessThan(CREATE_LIMIT_MS + UNDO_LIMIT_MS + SLACK_MS);
      expect(await scene.objects(ids.binding)).not.toEqual([]);
      proxy.behave();
      // Whoever was late still notes that the undo failed.
      await until({
        what: 'a repeat takes it over',
        limitMs: 10_000,
        isSo: async () => (await patient.bind(ids)).status === 201,
      });
      expect(await scene.objects(ids.binding)).toHaveLength(3);
      await scene.platform.unbind(ids);
    });

    it.concurrent('a DELETE is 503 in time, the bindings of other clusters do not wait for it, and a repeat finishes it', async () => {
      const { proxy, instance } = await clusterOfItsOwn();
      const ids = { instance, binding: newId('undeletable') };
      const bound = await patient.bind(ids);
      proxy.misbehave({ on: /./, act: { kind: 'hold' } });

      const unbinding = timed(() => scene.platform.unbind(ids));
      const elsewhere = await scene.attach();
      const others = await timed(async () => {
        for (let at = 0; at < 5; at += 1) {
          const other = { instance: elsewhere, binding: `b-${at}` };
          expect((await patient.bind(other)).status).toBe(201);
          expect((await scene.platform.unbind(other)).status).toBe(200);
        }
      });
      const { answer, tookMs } = await unbinding;

      expect(others.tookMs).toBeLessThan(tookMs);
      expect(answer.status).toBe(503);
      expectErrorBody(answer);
      expect(tookMs).toBeLessThan(DELETE_LIMIT_MS + SLACK_MS);
      proxy.behave();
      expect((await scene.platform.unbind(ids)).status).toBe(200);
      expect([401, 403]).toContain(await scene.eyes.statusWith(bound.body.credentials.token));
      expect(await scene.objects(ids.binding)).toEqual([]);
    });
  });
});
