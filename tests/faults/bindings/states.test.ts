// Each state of a binding against PUT, GET, DELETE and last_operation (docs/api.md, from "Bind" on). A misbehaving
// cluster holds a binding in states that pass too soon otherwise.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeWith } from '../../support/needs.ts';
import type { BindingBody, OsbAnswer } from '../../support/platform.ts';
import { until } from '../../support/until.ts';
import { expectErrorBody, refusal } from '../../integration/bindings/refusals.ts';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';

interface NamedBinding {
  readonly instance: string;
  readonly binding: string;
}

describeWith({ postgres: true, cluster: true }, 'a binding', () => {
  let scene: Scene;
  let proxy: ClusterProxy;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene({ reconciles: false });
    proxy = await openClusterProxy(scene.cluster);
    instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
  });

  afterEach(() => proxy.behave());

  afterAll(async () => {
    await proxy.stop();
    await scene.close();
  });

  const named = (word: string): NamedBinding => ({ instance, binding: newId(word) });

  async function expectGone(ids: NamedBinding): Promise<void> {
    expect(await scene.objects(ids.binding)).toEqual([]);
    expect((await scene.platform.getBinding(ids)).status).toBe(404);
  }

  /** What a fetch and last_operation say; `undefined` for 404. */
  async function seen(ids: NamedBinding) {
    const fetched = await scene.platform.getBinding(ids);
    const operation = await scene.platform.bindingOperation(ids);
    const { state } = operation.body;
    expect(operation.status).toBe(state === undefined ? 404 : 200);
    return { get: fetched.status, lastOperation: state };
  }

  it('KEB defect 22: unknown: 404 to GET and last_operation, 410 to DELETE, 201 to PUT', async () => {
    const ids = named('unknown');
    expect(await seen(ids)).toEqual({ get: 404, lastOperation: undefined });
    expect(await refusal(scene, () => scene.platform.unbind(ids))).toMatchObject({
      status: 410,
      body: {},
    });
    await refusal(scene, () => scene.platform.getBinding(ids));
    await refusal(scene, () => scene.platform.bindingOperation(ids));
    expect((await scene.platform.bind(ids)).status).toBe(201);
  });

  it('unknown, of an unknown instance: 410 to DELETE, 404 to GET and last_operation', async () => {
    const ids = { instance: newId('nowhere'), binding: 'b' };
    expect((await refusal(scene, () => scene.platform.unbind(ids))).status).toBe(410);
    expect((await refusal(scene, () => scene.platform.getBinding(ids))).status).toBe(404);
    expect((await refusal(scene, () => scene.platform.bindingOperation(ids))).status).toBe(404);
  });

  it('live: 200 to all, 409 to other parameters', async () => {
    const ids = named('live');
    const bound = await scene.platform.bind(ids);
    expect(await seen(ids)).toEqual({ get: 200, lastOperation: 'succeeded' });
    expect((await scene.platform.bind(ids)).body).toEqual(bound.body);
    await refusal(scene, () => scene.platform.bind(ids, { expiration_seconds: 900 }));
    expect(await scene.platform.unbind(ids)).toMatchObject({ status: 200, body: {} });
    await expectGone(ids);
  });

  it('deleted: as unknown', async () => {
    const ids = named('deleted');
    const first = await scene.platform.bind(ids);
    await scene.platform.unbind(ids);
    expect(await seen(ids)).toEqual({ get: 404, lastOperation: undefined });
    expect((await refusal(scene, () => scene.platform.unbind(ids))).status).toBe(410);
    const second = await scene.platform.bind(ids, { expiration_seconds: 900 });
    expect(second.status).toBe(201);
    expect(second.body.credentials.token).not.toBe(first.body.credentials.token);
    await scene.platform.unbind(ids);
  });

  describe('that is being issued', () => {
    it('is in progress, 404 to GET, 409 to other parameters, 200 to a repeat that waits, and 201 in the end', async () => {
      const ids = named('issuing');
      const { binding, release } = await issueOnHold(ids);
      expect(await seen(ids)).toEqual({ get: 404, lastOperation: 'in progress' });
      const other = await refusal(scene, () =>
        scene.platform.bind(ids, { expiration_seconds: 900 }),
      );
      expect(other.status).toBe(409);
      const same = scene.platform.bind(ids);
      await scene.untilAwaited(ids.binding);
      release();
      const issued = await binding;
      expect(issued.status).toBe(201);
      expect(await same).toMatchObject({ status: 200, body: issued.body });
      expect(await seen(ids)).toEqual({ get: 200, lastOperation: 'succeeded' });
      await scene.platform.unbind(ids);
    });

    it('takes a slot', async () => {
      const busy = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
      const { binding, release } = await issueOnHold({ instance: busy, binding: 'held' });
      const second = await scene.platform.bind({ instance: busy, binding: 'second' });
      expect(second.headers.get('x-runtime-broker-bindings-remaining')).toBe('8');
      release();
      expect((await binding).status).toBe(201);
    });
  });

  describe('whose issue failed and was undone', () => {
    it.each([undefined, { expiration_seconds: 900 }])(
      'is 404 to GET, failed, 410 to DELETE, 201 to PUT %j',
      async (parameters) => {
        const ids = named('failed');
        await issueThatFails(ids, { undoFails: false });
        expect(await scene.objects(ids.binding)).toEqual([]);
        expect(await seen(ids)).toEqual({ get: 404, lastOperation: 'failed' });
        expect((await refusal(scene, () => scene.platform.unbind(ids))).status).toBe(410);
        expect((await scene.platform.bind(ids, parameters)).status).toBe(201);
        expect(await seen(ids)).toEqual({ get: 200, lastOperation: 'succeeded' });
        await scene.platform.unbind(ids);
      },
    );
  });

  describe('whose issue failed and could not be undone', () => {
    it('is 404 to GET, failed, CE to PUT and 503 to DELETE while the cluster resists', async () => {
      const ids = named('open');
      await issueThatFails(ids, { undoFails: true });
      expect(await scene.objects(ids.binding)).not.toEqual([]);
      expect(await seen(ids)).toEqual({ get: 404, lastOperation: 'failed' });
      for (const parameters of [undefined, { expiration_seconds: 900 }]) {
        const answer = await scene.platform.bind(ids, parameters);
        expect(answer).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } });
        expectErrorBody(answer);
      }
      const unbound = await scene.platform.unbind(ids);
      expect(unbound.status).toBe(503);
      expectErrorBody(unbound);
      proxy.behave();
      expect((await scene.platform.unbind(ids)).status).toBe(200);
      await expectGone(ids);
    });

    it.each([undefined, { expiration_seconds: 900 }])(
      'is finished and issued anew by PUT %j once the cluster obeys',
      async (parameters) => {
        const ids = named('open-anew');
        await issueThatFails(ids, { undoFails: true });
        const left = await scene.objects(ids.binding);
        proxy.behave();
        expect((await scene.platform.bind(ids, parameters)).status).toBe(201);
        const uids = new Set(left.map(({ metadata }) => metadata.uid));
        const now = await scene.objects(ids.binding);
        expect(now).toHaveLength(3);
        expect(now.filter(({ metadata }) => uids.has(metadata.uid))).toEqual([]);
        await scene.platform.unbind(ids);
      },
    );

    it('KEB defect 3: what is left of it takes no slot', async () => {
      const other = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
      for (let at = 0; at < 10; at += 1) {
        await issueThatFails({ instance: other, binding: `open-${at}` }, { undoFails: true });
        proxy.behave();
      }
      const bound = await scene.platform.bind({ instance: other, binding: 'new' });
      expect(bound.status).toBe(201);
      expect(bound.headers.get('x-runtime-broker-bindings-remaining')).toBe('9');
    });
  });

  describe('that is being deleted', () => {
    it('is 404 to GET and last_operation, CE to PUT, 503 to DELETE, and takes a slot', async () => {
      const ids = named('deleting');
      await deleteThatFails(ids);
      expect(await seen(ids)).toEqual({ get: 404, lastOperation: undefined });
      expect(await scene.platform.bind(ids)).toMatchObject({
        status: 422,
        body: { error: 'ConcurrencyError' },
      });
      const answer = await scene.platform.unbind(ids);
      expect(answer.status).toBe(503);
      expectErrorBody(answer);
      proxy.behave();
      const neighbour = await scene.platform.bind(named('neighbour'));
      const before = Number(neighbour.headers.get('x-runtime-broker-bindings-remaining'));
      expect((await scene.platform.unbind(ids)).status).toBe(200);
      const after = await scene.platform.bind(named('neighbour'));
      // One more was bound and one has ended.
      expect(Number(after.headers.get('x-runtime-broker-bindings-remaining'))).toBe(before);
      await expectGone(ids);
      expect((await refusal(scene, () => scene.platform.unbind(ids))).status).toBe(410);
    });

    it('is finished and issued anew by PUT once the cluster obeys', async () => {
      const ids = named('deleting-anew');
      const first = await deleteThatFails(ids);
      proxy.behave();
      const second = await scene.platform.bind(ids, { expiration_seconds: 900 });
      expect(second.status).toBe(201);
      expect(await scene.objects(ids.binding)).toHaveLength(3);
      expect([401, 403]).toContain(await scene.eyes.statusWith(first.body.credentials.token));
      await scene.platform.unbind(ids);
    });
  });

  describe('and its DELETE', () => {
    const remove = (ids: NamedBinding, query: string) =>
      scene.platform.call({
        method: 'DELETE',
        path: `/service_instances/${ids.instance}/service_bindings/${ids.binding}?${query}`,
      });

    it('is 400 without service_id or plan_id, for an unknown one too', async () => {
      const live = named('query');
      await scene.platform.bind(live);
      for (const ids of [live, named('unknown')]) {
        for (const query of ['', 'service_id=s', 'plan_id=p', 'service_id=&plan_id=p']) {
          expect((await refusal(scene, () => remove(ids, query))).status).toBe(400);
        }
      }
      expect((await scene.platform.getBinding(live)).status).toBe(200);
      await scene.platform.unbind(live);
    });

    it('KEB defect 12: a DELETE is served with ids that are not the instance’s, and that is logged', async () => {
      const ids = named('wrong-offer');
      await scene.platform.bind(ids);
      expect((await remove(ids, 'service_id=other&plan_id=other')).status).toBe(200);
      await expectGone(ids);
      const warned = scene.broker
        .log()
        .filter(({ bindingId }) => bindingId === ids.binding)
        .filter(({ msg }) => /another service or plan/.test(String(msg)));
      expect(warned).toHaveLength(1);
    });

    it.each([
      ['suspend', 'succeeded'],
      ['provision', 'failed'],
      ['deprovision', 'failed'],
    ])(
      'KEB defects 27 and 31: a DELETE reaches the cluster while the instance is %s %s',
      async (type, state) => {
        const ids = { instance: await scene.attach(), binding: newId('unusable') };
        const bound = await scene.platform.bind(ids);
        await scene.ledger.sql(
          `update operations set type = $2, state = $3
          where instance_key = (select key from instances where id = $1)`,
          [ids.instance, type, state],
        );
        expect((await scene.platform.getBinding(ids)).status).toBe(404);
        expect((await scene.platform.unbind(ids)).status).toBe(200);
        expect(await scene.objects(ids.binding)).toEqual([]);
        expect([401, 403]).toContain(await scene.eyes.statusWith(bound.body.credentials.token));
        expect((await scene.platform.unbind(ids)).status).toBe(410);
      },
    );
  });

  /** A bind that waits at its token; `binding` is its answer. */
  async function issueOnHold(ids: NamedBinding) {
    const held = proxy.misbehave({ on: /POST .*\/token$/, act: { kind: 'hold' }, times: 1 });
    const binding = scene.platform.bind(ids);
    await until({ what: 'the issue is held', limitMs: 10_000, isSo: () => held.seen() === 1 });
    return { binding, release: () => held.end() };
  }

  async function issueThatFails(
    ids: NamedBinding,
    { undoFails }: { readonly undoFails: boolean },
  ): Promise<void> {
    const act = { kind: 'answer', status: 500 } as const;
    proxy.misbehave({ on: /POST .*\/token$/, act, times: 1 });
    if (undoFails) proxy.misbehave({ on: /^(GET|PATCH|DELETE) .*kyma-binding-/, act });
    const answer = await scene.platform.bind(ids);
    expect(answer.status).toBe(503);
    expectErrorBody(answer);
  }

  /** Returns what the bind had answered. */
  async function deleteThatFails(ids: NamedBinding): Promise<OsbAnswer<BindingBody>> {
    const bound = await scene.platform.bind(ids);
    proxy.misbehave({
      on: /^(GET|PATCH|DELETE) .*kyma-binding-/,
      act: { kind: 'answer', status: 500 },
    });
    expect((await scene.platform.unbind(ids)).status).toBe(503);
    return bound;
  }
});
