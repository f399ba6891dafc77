// Kyma plans over HTTP: whole lives of runtimes on a control plane, whose manager moves when the test says so, and what
// goes otherwise than wanted there. What only real API servers can show is in tests/cluster/kyma.test.ts.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startBroker } from '../../support/broker.ts';
import { administratorToken } from '../../support/cluster-administrator.ts';
import { PATHS } from '../../support/control-plane/control-plane.ts';
import { freshDatabase } from '../../support/database.ts';
import { describeWith } from '../../support/needs.ts';
import { AWS_PLAN_ID, type Platform, SERVICE_ID } from '../../support/platform.ts';
import { rawClient } from '../../support/raw-requests.ts';
import { until } from '../../support/until.ts';
import { type KymaScene, openKymaScene, runtimeCluster } from './kyma-scene.ts';

const SECRETS = '/api/v1/namespaces/kube-system/secrets?limit=1';

async function ask(kubeconfig: string): Promise<number> {
  return (await rawClient(kubeconfig)({ method: 'GET', path: SECRETS })).status;
}

async function planNames(platform: Platform): Promise<readonly string[]> {
  const { body } = await platform.catalog();
  const { services } = body as { services: readonly [{ plans: readonly { name: string }[] }] };
  return services[0].plans.map(({ name }) => name);
}

describeWith({ postgres: true }, 'a Kyma plan', () => {
  let scene: KymaScene;

  beforeAll(async () => {
    scene = await openKymaScene();
  });
  afterEach(async () => {
    scene.maker.behaviour = 'steady';
    scene.plane.behave();
    await scene.plane.bringUp();
  });
  afterAll(() => scene.close());

  async function bound(instance: string) {
    const ids = { instance, binding: randomUUID() };
    const { status, body } = await scene.platform().bind(ids);
    expect(status).toBe(201);
    return { ids, kubeconfig: body.credentials.kubeconfig };
  }

  function patch(instance: string, change: Readonly<Record<string, unknown>>) {
    return scene.platform().call({
      method: 'PATCH',
      path: `/service_instances/${instance}?accepts_incomplete=true`,
      body: { service_id: SERVICE_ID, plan_id: AWS_PLAN_ID, ...change },
    });
  }

  async function descriptionOf(instance: string): Promise<unknown> {
    return (await scene.platform().lastOperation({ instance })).body['description'];
  }

  async function untilDescribed(instance: string, words: string): Promise<void> {
    await until({
      what: `the operation is described by "${words}"`,
      limitMs: 20_000,
      isSo: async () => String(await descriptionOf(instance)).includes(words),
    });
  }

  async function passUntilDescribed(instance: string, words: string): Promise<void> {
    await until({
      what: `the operation is described by "${words}"`,
      limitMs: 20_000,
      isSo: async () => {
        if (String(await descriptionOf(instance)).includes(words)) return true;
        await scene.pass();
        return false;
      },
    });
  }

  it('is in the catalog where a control plane is configured, and only there', async () => {
    expect(await planNames(scene.platform())).toEqual(
      'aws azure gcp azure_lite trial free own_cluster'.split(' '),
    );
    const database = await freshDatabase();
    const without = await startBroker({ databaseUrl: database.url });
    expect(await planNames(without.platform)).toEqual(['own_cluster']);
    await without.stop();
    await database.drop();
  });

  it('makes a runtime, binds to it and removes it, whatever bindings live', async () => {
    const ids = await scene.ordered();
    const from = scene.maker.done.length;
    expect((await scene.platform().getInstance(ids)).status).toBe(404);
    const early = await scene.platform().bind({ ...ids, binding: 'early' });
    expect(early).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } });

    expect(await scene.ended(ids)).toEqual({
      state: 'succeeded',
      description: 'The runtime is ready.',
    });

    expect(scene.maker.done.slice(from)).toEqual([
      'Runtime Pending',
      'Secret made',
      'Runtime Ready',
    ]);
    expect((await scene.platform().getInstance(ids)).body['parameters']).toEqual({ name: 'kyma' });
    const first = await bound(ids.instance);
    expect(await ask(first.kubeconfig)).toBe(200);
    expect((await scene.platform().unbind(first.ids)).status).toBe(200);
    expect([401, 403]).toContain(await ask(first.kubeconfig));

    const live = [await bound(ids.instance), await bound(ids.instance)];
    expect((await scene.platform().deprovision(ids)).status).toBe(202);
    expect(await scene.ended(ids)).toMatchObject({ state: 'succeeded' });

    for (const { ids: each, kubeconfig } of live) {
      expect([401, 403]).toContain(await ask(kubeconfig));
      expect((await scene.platform().unbind(each)).status).toBe(410);
    }
    expect(scene.maker.done.slice(from + 3)).toEqual([
      'Kyma deleted',
      'Runtime Terminating',
      'Secret deleted',
      'Runtime deleted',
    ]);
    for (const path of Object.values(PATHS)) expect(await scene.eyes.list(path)).toEqual([]);
    expect((await scene.platform().deprovision(ids)).status).toBe(410);
  });

  it('names on the control plane whose runtime it is', async () => {
    const { instance, runtimeId } = await scene.made();
    const runtime = await scene.runtimeOf(instance);
    const labels = {
      'kyma-project.io/runtime-id': runtimeId,
      'kyma-project.io/broker-plan-name': 'aws',
      'kyma-project.io/platform-region': 'cf-eu10',
      'operator.kyma-project.io/kyma-name': runtimeId,
    };
    expect(runtime?.metadata.labels).toMatchObject(labels);
    const kyma = await scene.eyes.find(PATHS.kymas, runtimeId);
    expect(kyma?.metadata.labels).toMatchObject(labels);
    expect(kyma?.spec).toEqual({ channel: 'regular', modules: [] });
  });

  it('waits while the manager says that it has failed, or what nobody knows', async () => {
    scene.maker.behaviour = { state: 'Failed' };
    const ids = await scene.ordered();
    await passUntilDescribed(ids.instance, 'an attempt failed and is repeated');
    scene.maker.behaviour = { state: 'Hibernating' };
    await passUntilDescribed(ids.instance, 'The cluster is being made.');
    expect(scene.broker().log()).toContainEqual(
      expect.objectContaining({ state: 'Hibernating', instanceId: ids.instance }),
    );
    scene.maker.behaviour = 'steady';
    expect(await scene.ended(ids)).toMatchObject({ state: 'succeeded' });
  });

  it('says after 20 minutes that it takes longer, and after 60 that it has failed, leaving nothing', async () => {
    scene.maker.behaviour = 'stuck';
    const ids = await scene.ordered();
    await passUntilDescribed(ids.instance, 'The cluster is being made.');
    await scene.pass(20 * 60);
    await passUntilDescribed(
      ids.instance,
      'Operation created. Cluster provisioning takes longer than usual. It takes up to 60 minutes.',
    );

    await scene.pass(40 * 60);

    expect(await scene.ended(ids)).toEqual({
      state: 'failed',
      description: 'The cluster was not ready in time; what was made of it is removed.',
    });
    expect((await scene.runtimeOf(ids.instance))?.metadata.deletionTimestamp).toBeDefined();
    for (let round = 0; round < 4; round += 1) await scene.pass();
    expect(await scene.runtimeOf(ids.instance)).toBeUndefined();
    expect((await scene.platform().deprovision(ids)).status).toBe(202);
    expect(await scene.ended(ids)).toMatchObject({ state: 'succeeded' });
  });

  it('goes on once the control plane is back, and says meanwhile that it is away', async () => {
    await scene.plane.takeDown();
    const ids = await scene.ordered();
    await untilDescribed(ids.instance, 'The control plane cannot be reached.');
    await scene.plane.bringUp();
    expect(await scene.ended(ids)).toMatchObject({ state: 'succeeded' });
  });

  it('does not count as failed before what it made is removed', async () => {
    scene.maker.behaviour = 'stuck';
    const ids = await scene.ordered();
    await scene.pass();
    await scene.pass();
    expect(await scene.runtimeOf(ids.instance)).toBeDefined();
    await scene.plane.takeDown();
    await scene.pass(61 * 60);
    await passUntilDescribed(ids.instance, 'Given up at the deadline. The control plane');
    await scene.pass();
    expect((await scene.platform().lastOperation(ids)).body['state']).toBe('in progress');

    await scene.plane.bringUp();

    const { state, description } = await scene.ended(ids);
    expect(state).toBe('failed');
    // Its last answer may have been cut off.
    expect(description).toMatch(/^Given up at the deadline\. The control plane c/);
    expect((await scene.runtimeOf(ids.instance))?.metadata.deletionTimestamp).toBeDefined();
  });

  it('leaves nothing of a runtime that is deleted while it is made', async () => {
    const ids = await scene.ordered();
    await until({
      what: 'its Runtime is there',
      limitMs: 20_000,
      isSo: async () => (await scene.runtimeOf(ids.instance)) !== undefined,
    });
    expect((await scene.platform().deprovision(ids)).status).toBe(202);
    expect(await scene.ended(ids)).toMatchObject({ state: 'succeeded' });
    expect(await scene.runtimeOf(ids.instance)).toBeUndefined();
  });

  it('finds what a cancelled attempt makes too late', async () => {
    const late = scene.plane.misbehave({ on: /^POST .*\/runtimes/, act: { kind: 'arrive-late' } });
    const ids = await scene.ordered();
    await until({ what: 'it is on its way', limitMs: 20_000, isSo: () => late.seen() > 0 });
    expect((await scene.platform().deprovision(ids)).status).toBe(202);
    await untilDescribed(ids.instance, 'The modules of the runtime are being removed.');
    late.end();
    await until({
      what: 'its Runtime is there after all',
      limitMs: 20_000,
      isSo: async () => (await scene.runtimeOf(ids.instance)) !== undefined,
    });
    expect(await scene.ended(ids)).toMatchObject({ state: 'succeeded' });
    expect(await scene.runtimeOf(ids.instance)).toBeUndefined();
  });

  it('makes one runtime, whatever becomes of answers and of the process', async () => {
    scene.maker.behaviour = 'stuck';
    const cut = { on: /^POST .*\/runtimes/, act: { kind: 'cut-answer' }, times: 1 } as const;
    const lost = scene.plane.misbehave(cut);
    const ids = await scene.ordered();
    await until({ what: 'the answer is lost', limitMs: 20_000, isSo: () => lost.seen() > 0 });
    const { uid } = (await scene.runtimeOf(ids.instance))?.metadata ?? {};
    await scene.pass();
    await scene.restart();
    scene.maker.behaviour = 'steady';

    expect(await scene.ended(ids)).toMatchObject({ state: 'succeeded' });

    const runtimes = (await scene.eyes.list(PATHS.runtimes)).filter(
      ({ metadata }) => metadata.labels?.['kyma-project.io/instance-id'] === ids.instance,
    );
    expect(runtimes.map(({ metadata }) => metadata.uid)).toEqual([uid]);
  });

  it('does not touch a runtime of the same id that belongs to another instance', async () => {
    const runtimeId = randomUUID();
    const { instance } = await scene.made();
    const foreign = { ...(await scene.runtimeOf(instance)), status: undefined };
    const metadata = {
      ...foreign.metadata,
      name: runtimeId,
      uid: undefined,
      finalizers: undefined,
    };
    await scene.eyes.create(PATHS.runtimes, {
      ...foreign,
      metadata: { ...metadata, resourceVersion: undefined, creationTimestamp: undefined },
    });
    const before = await scene.eyes.find(PATHS.runtimes, runtimeId);

    // In the order of drawing: the instance's key, its operation, its runtime.
    scene.parts.nextUuids.push(randomUUID(), randomUUID(), runtimeId);
    const ids = await scene.ordered();

    expect(await scene.ended(ids)).toEqual({
      state: 'failed',
      description:
        'The control plane has a runtime of the same id that belongs to another instance.',
    });
    expect((await scene.platform().deprovision(ids)).status).toBe(202);
    expect(await scene.ended(ids)).toMatchObject({ state: 'succeeded' });
    const after = await scene.eyes.find(PATHS.runtimes, runtimeId);
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    expect(after?.metadata.deletionTimestamp).toBeUndefined();
  });

  it.each([
    ['a connection that stands', false],
    ['a new connection', true],
  ])(
    'takes up a kubeconfig that was replaced, without a bind that fails, over %s',
    async (_, isNew) => {
      const { instance, runtimeId } = await scene.made();
      const cluster = runtimeCluster(scene.parts.sandbox, runtimeId);
      const instanceKey = await keyOf(scene, instance);
      const { clusters } = scene.broker().composition.broker;
      await giveNewAdministrator(scene, runtimeId);
      // What was read before still works, and would be kept.
      clusters.forget(instanceKey);
      await bound(instance);

      const administrate = rawClient(cluster.adminKubeconfig);
      const before = JSON.parse((await administrate({ method: 'GET', path: ACCOUNTS })).text) as {
        items: readonly { metadata: { name: string } }[];
      };
      await giveNewAdministrator(scene, runtimeId);
      for (const { metadata } of before.items) {
        await administrate({ method: 'DELETE', path: `${ACCOUNTS}/${metadata.name}` });
      }
      scene.parts.clock.clustersAheadMs += AUTHENTICATION_CACHE_MS;
      if (isNew) scene.broker().composition.openClusters.drop(instanceKey);

      const { kubeconfig } = await bound(instance);

      expect(await ask(kubeconfig)).toBe(200);
    },
  );

  it('takes a cluster for gone when the control plane says so, and not when it is silent', async () => {
    const { instance, runtimeId } = await scene.made();
    const [first, second] = [await bound(instance), await bound(instance)];
    const { faults } = scene.parts.sandbox.sandbox;
    const silence = faults.inject({ on: new RegExp(`/r-${runtimeId}/`), act: { kind: 'cut' } });
    expect((await scene.platform().unbind(first.ids)).status).toBe(503);
    await scene.plane.takeDown();
    expect((await scene.platform().unbind(first.ids)).status).toBe(503);
    await scene.plane.bringUp();
    await scene.eyes.remove(PATHS.runtimes, runtimeId);
    await scene.eyes.patch(PATHS.runtimes, runtimeId, { metadata: { finalizers: null } });

    expect((await scene.platform().unbind(second.ids)).status).toBe(200);
    silence.end();
  });

  it('goes with a suspension, and comes back as another runtime that can be bound to', async () => {
    const { instance, runtimeId } = await scene.made();
    const before = await bound(instance);

    expect((await patch(instance, { context: { active: false } })).status).toBe(202);
    expect(await scene.ended({ instance })).toMatchObject({ state: 'succeeded' });

    expect([401, 403]).toContain(await ask(before.kubeconfig));
    expect(await scene.eyes.find(PATHS.runtimes, runtimeId)).toBeUndefined();
    expect(await scene.eyes.find(PATHS.kymas, runtimeId)).toBeUndefined();
    const unbound = await scene.platform().unbind(before.ids);
    expect([200, 410]).toContain(unbound.status);

    expect((await patch(instance, { context: { active: true } })).status).toBe(202);
    expect(await scene.ended({ instance })).toMatchObject({ state: 'succeeded' });

    const next = await scene.runtimeOf(instance);
    expect(next?.metadata.name).not.toBe(runtimeId);
    const { kubeconfig } = await bound(instance);
    expect(await ask(kubeconfig)).toBe(200);
  });

  it('leaves nothing of a resumption that is given up, and can be resumed after that', async () => {
    const { instance } = await scene.made();
    await patch(instance, { context: { active: false } });
    expect(await scene.ended({ instance })).toMatchObject({ state: 'succeeded' });
    scene.maker.behaviour = 'stuck';
    await patch(instance, { context: { active: true } });
    await scene.pass();
    await scene.pass();
    await scene.pass(61 * 60);
    expect(await scene.ended({ instance })).toMatchObject({ state: 'failed' });
    expect((await scene.runtimeOf(instance))?.metadata.deletionTimestamp).toBeDefined();
    scene.maker.behaviour = 'steady';

    expect((await patch(instance, { context: { active: true } })).status).toBe(202);

    expect(await scene.ended({ instance })).toMatchObject({ state: 'succeeded' });
    expect((await scene.runtimeOf(instance))?.metadata.deletionTimestamp).toBeUndefined();
  });

  it('changes its name, and refuses to change what its Runtime is made of', async () => {
    const { instance } = await scene.made();
    expect((await patch(instance, { parameters: { name: 'renamed' } })).status).toBe(202);
    expect(await scene.ended({ instance })).toMatchObject({ state: 'succeeded' });
    const { kubeconfig } = await bound(instance);
    expect(kubeconfig).toContain('renamed');
    expect((await patch(instance, { parameters: { region: 'elsewhere' } })).status).toBe(400);
  });

  it('keeps the control plane from being attached as a cluster', async () => {
    const attached = await scene
      .broker()
      .platform.provision({ instance: randomUUID() }, scene.plane.adminKubeconfig);
    expect(attached.status).toBe(400);
    expect(attached.body['description']).toContain('it belongs to the broker itself');
  });
});

/** For so long an API server goes on accepting a token that it has accepted before, and somewhat more. */
const AUTHENTICATION_CACHE_MS = 11_000;

const ACCOUNTS = '/api/v1/namespaces/kube-system/serviceaccounts';

/** The maker's Secret of the runtime has another token from now on; the earlier ones go on being accepted. */
async function giveNewAdministrator({ parts, maker }: KymaScene, runtimeId: string): Promise<void> {
  const cluster = runtimeCluster(parts.sandbox, runtimeId);
  const token = await administratorToken(cluster);
  const kubeconfig = cluster.adminKubeconfig.replace(cluster.adminToken, token);
  parts.kubeconfigs.set(runtimeId, kubeconfig);
  await maker.rotate(runtimeId);
}

/** Our own, as the Runtime carries it. */
async function keyOf(scene: KymaScene, instance: string): Promise<string> {
  const runtime = await scene.runtimeOf(instance);
  return runtime?.metadata.annotations?.['runtime-broker/instance-key'] ?? '';
}
