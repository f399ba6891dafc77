// An issue that is overtaken: by a DELETE, by the end of its instance, by a time that is over for others. Whoever comes
// late makes nothing live, hands out nothing, and removes what it made (KEB defects 5 and 6).
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type ClusterFault,
  type ClusterProxy,
  type FaultAct,
  openClusterProxy,
} from '../../support/cluster-proxy.ts';
import type { TestBroker } from '../../support/broker.ts';
import { describeWith } from '../../support/needs.ts';
import { bindingPath, OWN_CLUSTER_PLAN_ID, SERVICE_ID } from '../../support/platform.ts';
import { until } from '../../support/until.ts';
import { expectErrorBody } from '../../integration/bindings/refusals.ts';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';

interface NamedBinding {
  readonly instance: string;
  readonly binding: string;
}

const CALLS = {
  'the account': /^POST .*\/serviceaccounts$/,
  'the token': /^POST .*\/token$/,
  'the role': /^POST .*\/clusterroles$/,
  'the role binding': /^POST .*\/clusterrolebindings$/,
};

const ACTS = {
  'before it arrives': { kind: 'hold' },
  'after it arrived': { kind: 'hold-answer' },
} as const satisfies Record<string, FaultAct>;

const MOMENTS = Object.entries(CALLS).flatMap(([call, on]) =>
  Object.entries(ACTS).map(([when, act]) => ({ call, on, when, act })),
);

describeWith({ postgres: true, cluster: true }, 'an issue that is overtaken', () => {
  let scene: Scene;
  /** Shares nothing with the one that issues but the database. */
  let replica: TestBroker;
  let proxy: ClusterProxy;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene();
    replica = await scene.openReplica();
    proxy = await openClusterProxy(scene.cluster);
    instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
  });

  afterEach(() => proxy.behave());

  afterAll(async () => {
    await proxy.stop();
    await scene.close();
  });

  async function issueOnHold(ids: NamedBinding, fault: Pick<ClusterFault, 'on' | 'act'>) {
    return await holdIssue(proxy, ids, fault);
  }

  async function holdIssue(
    through: ClusterProxy,
    ids: NamedBinding,
    fault: Pick<ClusterFault, 'on' | 'act'>,
  ) {
    const held = through.misbehave({ ...fault, times: 1 });
    const binding = scene.platform.bind(ids);
    await until({ what: 'the issue is held', limitMs: 10_000, isSo: () => held.seen() === 1 });
    return { binding, release: () => held.end() };
  }

  /** Live or about to be: whatever still has a right to come out of the ledger. */
  const openGrants = (ids: NamedBinding) =>
    scene.ledger.sql<{ revoking_since: Date | null }>(
      `select g.revoking_since from grants g join instances i on i.key = g.instance_key
      where i.id = $1 and g.binding_id = $2 and g.ended_at is null`,
      [ids.instance, ids.binding],
    );

  /** From then on the writer is fenced, wherever it is. */
  const untilOrdered = (ids: NamedBinding) =>
    until({
      what: 'the grant was ordered to end',
      limitMs: 10_000,
      isSo: async () => (await openGrants(ids)).some((grant) => grant.revoking_since !== null),
    });

  it.each(MOMENTS)(
    'KEB defect 5: an issue is stopped by a DELETE while $call is held $when: DELETE 200, PUT CE, nothing left',
    async ({ on, act }) => {
      const ids = { instance, binding: newId('stopped') };
      const { binding, release } = await issueOnHold(ids, { on, act });
      const unbinding = replica.platform.unbind(ids);
      await untilOrdered(ids);
      expect((await scene.platform.getBinding(ids)).status).toBe(404);
      release();

      const answer = await binding;
      expect(answer).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } });
      expectErrorBody(answer);
      expect(await unbinding).toMatchObject({ status: 200, body: {} });
      expect(await scene.objects(ids.binding)).toEqual([]);
      expect(await openGrants(ids)).toEqual([]);
      expect((await scene.platform.unbind(ids)).status).toBe(410);
      expect((await scene.platform.bind(ids)).status).toBe(201);
      expect(await scene.objects(ids.binding)).toHaveLength(3);
      await scene.platform.unbind(ids);
    },
  );

  // Side by side, since a deprovisioning that waits for a writer looks again after a pause.
  it.concurrent.each(MOMENTS)(
    'by the end of its instance while $call is held $when: PUT CE, nothing left',
    async ({ on, act }) => {
      const cluster = await openClusterProxy(scene.cluster);
      const going = await scene.attach({ kubeconfig: cluster.adminKubeconfig });
      const ids = { instance: going, binding: newId('ended') };
      const { binding, release } = await holdIssue(cluster, ids, { on, act });
      expect((await replica.platform.deprovision(ids)).status).toBe(202);
      release();

      const answer = await binding;
      expect(answer).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } });
      await until({
        what: 'the instance is gone',
        limitMs: 20_000,
        isSo: async () => (await scene.platform.getInstance(ids)).status === 404,
      });
      expect(await scene.objects(ids.binding)).toEqual([]);
      expect(await openGrants(ids)).toEqual([]);
      await cluster.stop();
    },
  );

  it('by a DELETE, and cannot be undone: it is not told as deleted until it is', async () => {
    const ids = { instance, binding: newId('resisting') };
    const { binding, release } = await issueOnHold(ids, {
      on: CALLS['the role'],
      act: ACTS['before it arrives'],
    });
    const unbinding = replica.platform.unbind(ids);
    await untilOrdered(ids);
    const act = { kind: 'answer', status: 500 } as const;
    proxy.misbehave({ on: /^(GET|PATCH|DELETE) .*kyma-binding-/, act });
    release();

    expect((await binding).status).toBe(422);
    const answer = await unbinding;
    expect(answer.status).toBe(503);
    expectErrorBody(answer);
    expect(await scene.objects(ids.binding)).not.toEqual([]);
    proxy.behave();
    expect((await scene.platform.unbind(ids)).status).toBe(200);
    expect(await scene.objects(ids.binding)).toEqual([]);
    expect(await openGrants(ids)).toEqual([]);
  });

  describe('by a time that is over for others', () => {
    /** Create limit and slack: then an issue counts as dead, whoever still works on it. */
    const LEASE_SECONDS = 31;

    it('gives way to a bind of its own id, and its late outcome is refused', async () => {
      const ids = { instance, binding: newId('lapsed') };
      const { binding, release } = await issueOnHold(ids, {
        on: CALLS['the token'],
        act: ACTS['after it arrived'],
      });
      await scene.passTime(LEASE_SECONDS);
      expect((await scene.platform.bindingOperation(ids)).body).toMatchObject({ state: 'failed' });

      const second = await replica.platform.bind(ids);
      expect(second.status).toBe(201);
      release();

      expect(await binding).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } });
      const fetched = await scene.platform.getBinding(ids);
      expect(fetched.body.credentials).toEqual(second.body.credentials);
      expect(await scene.eyes.statusWith(second.body.credentials.token)).toBe(200);
      expect(await scene.objects(ids.binding)).toHaveLength(3);
      expect(await openGrants(ids)).toHaveLength(1);
      await scene.platform.unbind(ids);
    });

    it('gives its slot back through the next bind of the instance, and its late outcome is refused', async () => {
      const full = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
      for (let at = 0; at < 9; at += 1) {
        await scene.platform.bind({ instance: full, binding: `b-${at}` });
      }
      const ids = { instance: full, binding: 'held' };
      const { binding, release } = await issueOnHold(ids, {
        on: CALLS['the role'],
        act: ACTS['before it arrives'],
      });
      expect((await scene.platform.bind({ instance: full, binding: 'tenth' })).status).toBe(400);
      await scene.passTime(LEASE_SECONDS);

      expect((await replica.platform.bind({ instance: full, binding: 'tenth' })).status).toBe(201);
      release();

      expect(await binding).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } });
      expect(await scene.objects('held')).toEqual([]);
      expect((await scene.platform.bind({ instance: full, binding: 'more' })).status).toBe(400);
      const events = scene.broker
        .log()
        .filter(({ event, bindingId }) => event === 'late-writer-fenced' && bindingId === 'held');
      expect(events).toHaveLength(1);
    });

    it('is deleted like any other', async () => {
      const ids = { instance, binding: newId('lapsed-deleted') };
      const { binding, release } = await issueOnHold(ids, {
        on: CALLS['the token'],
        act: ACTS['before it arrives'],
      });
      await scene.passTime(LEASE_SECONDS);
      // 410 where the reconciler has been there before.
      expect((await scene.platform.unbind(ids)).status).toBeOneOf([200, 410]);
      release();
      expect((await binding).status).toBe(422);
      expect(await scene.objects(ids.binding)).toEqual([]);
    });
  });

  it('KEB defect 6: a platform that hangs up leaves no credential without a row, and DELETE finds it', async () => {
    const ids = { instance, binding: newId('hung-up') };
    const held = proxy.misbehave({ on: CALLS['the token'], act: { kind: 'hold' }, times: 1 });
    const patience = new AbortController();
    const binding = scene.platform
      .call({
        method: 'PUT',
        path: bindingPath(ids),
        body: { service_id: SERVICE_ID, plan_id: OWN_CLUSTER_PLAN_ID },
        signal: patience.signal,
      })
      .catch(() => 'hung up');
    await until({ what: 'the issue is held', limitMs: 10_000, isSo: () => held.seen() === 1 });
    patience.abort();
    expect(await binding).toBe('hung up');
    held.end();
    await until({
      what: 'the issue has come to its end all the same',
      limitMs: 10_000,
      isSo: async () => (await scene.platform.bindingOperation(ids)).body['state'] === 'succeeded',
    });
    // Orphan mitigation, as platforms do it after a time-out (OSB 2.17, Orphan Mitigation).
    expect((await scene.platform.unbind(ids)).status).toBe(200);
    expect(await scene.objects(ids.binding)).toEqual([]);
  });
});
