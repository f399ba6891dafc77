// Revocations that are finished behind nobody's request: tried again with growing delay and without an end, one cluster
// never waiting for another, each grant by one replica at a time. The test runs the passes itself.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { expireBindings } from '../../../src/background/expire-bindings.ts';
import {
  circuitsOf,
  finishRevocations,
  type FinishReport,
} from '../../../src/background/finish-revocations.ts';
import type { Broker } from '../../../src/broker/broker.ts';
import { ProvisionersByPlan } from '../../../src/provisioners/by-plan.ts';
import { claimDueGrants } from '../../../src/storage/due-grants.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { describeWith } from '../../support/needs.ts';
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';
import { newId, openScene, type Scene } from '../bindings/scene.ts';

interface GrantRow {
  readonly id: string;
  readonly instance_key: string;
  readonly ended_at: Date | null;
  readonly proof: string | null;
  readonly tries: number;
  readonly last_error: string | null;
  readonly next_try_at: Date | null;
  readonly lease_replica: string | null;
}

const never = new AbortController().signal;

/** Ordered to end, and due, as by a request whose own try has failed. */
async function orderEnd(scene: Scene, instance: string): Promise<void> {
  await scene.ledger.sql(
    `update grants set revoking_since = coalesce(revoking_since, $2), next_try_at = $2
    where ended_at is null and instance_key in (select key from instances where id = $1)`,
    [instance, scene.now()],
  );
}

async function grantsOf(scene: Scene, instance: string): Promise<readonly GrantRow[]> {
  return scene.ledger.sql<GrantRow>(
    `select g.* from grants g join instances i on i.key = g.instance_key
    where i.id = $1 order by g.intended_at`,
    [instance],
  );
}

async function bindSome(scene: Scene, instance: string, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const bound = await scene.platform.bind({ instance, binding: newId('some') });
    expect(bound.status).toBe(201);
  }
}

const brokerOf = ({ broker }: Scene): Broker => broker.composition.broker;

const finish = (scene: Scene): Promise<FinishReport> =>
  finishRevocations(brokerOf(scene), { signal: never });

describeOnEngines('a cluster that is away', { cluster: true }, (engine) => {
  let scene: Scene;
  let proxy: ClusterProxy;

  beforeAll(async () => {
    scene = await openScene({ engine, reconciles: false });
    proxy = await openClusterProxy(scene.cluster);
  });

  afterEach(async () => {
    proxy.behave();
    await proxy.bringUp();
  });

  afterAll(async () => {
    await proxy.stop();
    await scene.close();
  });

  const attach = () => scene.attach({ kubeconfig: proxy.adminKubeconfig });

  it('KEB defect 31: is asked again with growing delay and without an end, until it is back', async () => {
    const instance = await attach();
    await bindSome(scene, instance, 1);
    await proxy.takeDown();
    const delays: number[] = [];
    for (let tries = 1; tries <= 12; tries += 1) {
      await orderEnd(scene, instance);
      expect(await finish(scene)).toEqual({ revoked: 0, failed: 1, lookedAgain: 0 });
      const [grant] = await grantsOf(scene, instance);
      expect(grant).toMatchObject({ tries, ended_at: null, lease_replica: null });
      expect(grant?.last_error).toContain('unreachable');
      delays.push(((grant?.next_try_at?.getTime() ?? 0) - scene.now().getTime()) / 1000);
    }
    const longest = [5, 10, 20, 40, 80, 160, 320, 640, 900, 900, 900, 900];
    for (const [at, delay] of delays.entries()) {
      expect(delay).toBeLessThanOrEqual(longest[at] ?? 0);
      expect(delay).toBeGreaterThan((longest[at] ?? 0) * 0.9 - 2);
    }
    await proxy.bringUp();
    await orderEnd(scene, instance);
    expect(await finish(scene)).toEqual({ revoked: 1, failed: 0, lookedAgain: 0 });
    expect((await grantsOf(scene, instance))[0]).toMatchObject({ proof: 'refused' });
  });

  it('is left alone for as long as it asks for', async () => {
    const instance = await attach();
    await bindSome(scene, instance, 5);
    await orderEnd(scene, instance);
    const circuits = circuitsOf(brokerOf(scene));
    proxy.misbehave({
      on: /./,
      act: { kind: 'answer', status: 429, headers: { 'retry-after': '834' } },
    });
    const report = await finishRevocations(brokerOf(scene), { signal: never, circuits });
    // Its share of workers, and nobody after them.
    expect(report).toMatchObject({ revoked: 0, failed: 4 });
    const asked = proxy.requests().length;
    for (const grant of (await grantsOf(scene, instance)).filter(({ tries }) => tries > 0)) {
      const waitMs = (grant.next_try_at?.getTime() ?? 0) - scene.now().getTime();
      expect(waitMs).toBeGreaterThan(825_000);
    }
    await scene.passTime(800);
    await finishRevocations(brokerOf(scene), { signal: never, circuits });
    expect(proxy.requests()).toHaveLength(asked);

    proxy.behave();
    await scene.passTime(40);
    const after = await finishRevocations(brokerOf(scene), { signal: never, circuits });
    expect(after).toMatchObject({ revoked: 5, failed: 0 });
  });

  it('is left alone for a quarter of an hour at the most, however long it asks for', async () => {
    const instance = await attach();
    await bindSome(scene, instance, 1);
    await orderEnd(scene, instance);
    const circuits = circuitsOf(brokerOf(scene));
    proxy.misbehave({
      on: /./,
      act: { kind: 'answer', status: 429, headers: { 'retry-after': '86400' } },
      times: 1,
    });
    await finishRevocations(brokerOf(scene), { signal: never, circuits });
    expect(await grantsOf(scene, instance)).toMatchObject([{ tries: 1, ended_at: null }]);

    await scene.passTime(901);
    const after = await finishRevocations(brokerOf(scene), { signal: never, circuits });
    expect(after).toMatchObject({ revoked: 1, failed: 0 });
    expect(await scene.objects()).toEqual([]);
  });

  it('once back, what waited for a later try is done at once, after one that shows it', async () => {
    const instance = await attach();
    await bindSome(scene, instance, 6);
    await orderEnd(scene, instance);
    const circuits = circuitsOf(brokerOf(scene));
    await proxy.takeDown();
    await finishRevocations(brokerOf(scene), { signal: never, circuits });
    await scene.ledger.sql(
      `update grants set next_try_at = $2 where tries > 0 and ended_at is null
        and instance_key in (select key from instances where id = $1)`,
      [instance, new Date(scene.now().getTime() + 800_000)],
    );
    await proxy.bringUp();
    await scene.passTime(6);
    const after = await finishRevocations(brokerOf(scene), { signal: never, circuits });
    expect(after).toEqual({ revoked: 6, failed: 0, lookedAgain: 0 });
  });

  it('KEB defect 34: of a deleted instance keeps what cleaning needs, and nothing once it is back and clean', async () => {
    const instance = await attach();
    await bindSome(scene, instance, 2);
    await proxy.takeDown();
    expect((await scene.platform.deprovision({ instance })).status).toBe(202);
    await scene.passTime(125);
    await until({
      what: 'the instance is deleted all the same',
      limitMs: 20_000,
      isSo: async () => (await scene.platform.getInstance({ instance })).status === 404,
    });
    const access = async () =>
      (
        await scene.ledger.sql<{ kept: boolean }>(
          'select sealed_access is not null as kept from instances where id = $1',
          [instance],
        )
      )[0]?.kept;
    expect(await access()).toBe(true);
    const left = await grantsOf(scene, instance);
    expect(left.map(({ ended_at }) => ended_at)).toEqual([null, null]);

    await proxy.bringUp();
    await orderEnd(scene, instance);
    expect(await finish(scene)).toMatchObject({ revoked: 2, failed: 0 });
    expect(await access()).toBe(false);
  });

  it('access that a crash has left to a deleted instance is erased by the next pass', async () => {
    const [crashed, living] = [await attach(), await attach()];
    await scene.ledger.sql('update instances set deleted_at = $2 where id = $1', [
      crashed,
      scene.now(),
    ]);
    expect(await finish(scene)).toEqual({ revoked: 0, failed: 0, lookedAgain: 0 });
    const kept = await scene.ledger.sql<{ id: string }>(
      'select id from instances where id = any($1) and sealed_access is not null',
      [[crashed, living]],
    );
    expect(kept).toEqual([{ id: living }]);
  });

  it('is gone when an operator says so, and not before', async () => {
    const instance = await attach();
    await bindSome(scene, instance, 2);
    await proxy.takeDown();
    await orderEnd(scene, instance);
    expect(await finish(scene)).toMatchObject({ revoked: 0, failed: 2 });

    await scene.ledger.sql('update instances set cluster_gone_at = $2 where id = $1', [
      instance,
      scene.now(),
    ]);
    const asked = proxy.requests().length;
    await orderEnd(scene, instance);
    expect(await finish(scene)).toMatchObject({ revoked: 2, failed: 0 });
    const proofs = (await grantsOf(scene, instance)).map(({ proof }) => proof);
    expect(proofs).toEqual(['cluster-gone-by-operator', 'cluster-gone-by-operator']);
    expect(proxy.requests()).toHaveLength(asked);
  });

  it('is gone when whoever made it says so; one that is silent, or of which nobody can say, is not', async () => {
    const instance = await attach();
    await bindSome(scene, instance, 1);
    await proxy.takeDown();
    const broker = brokerOf(scene);
    const own = broker.provisioners.provisionerOf({ provisioner: 'own-cluster' });
    const saying = (clusterIsGone: () => Promise<boolean>): Broker => ({
      ...broker,
      provisioners: new ProvisionersByPlan([], [{ ...own, clusterIsGone }]),
    });
    const finishAs = async (told: Broker) => {
      await orderEnd(scene, instance);
      return finishRevocations(told, { signal: never });
    };

    expect(await finishAs(broker)).toMatchObject({ failed: 1 });
    expect(await finishAs(saying(() => Promise.resolve(false)))).toMatchObject({ failed: 1 });
    const unable = saying(() => Promise.reject(new Error('the control plane is away')));
    expect(await finishAs(unable)).toMatchObject({ failed: 1 });
    expect((await grantsOf(scene, instance))[0]?.ended_at).toBeNull();

    expect(await finishAs(saying(() => Promise.resolve(true)))).toMatchObject({ revoked: 1 });
    expect((await grantsOf(scene, instance))[0]).toMatchObject({ proof: 'cluster-gone' });
  });

  it('KEB defect 29: access that cannot be opened makes its own grants stuck, and nobody else', async () => {
    const [damaged, healthy] = [await attach(), await attach()];
    await bindSome(scene, damaged, 1);
    await bindSome(scene, healthy, 1);
    await scene.ledger.sql(
      `update instances set sealed_access = 'v1.lost.aXY.c2VhbGVk' where id = $1`,
      [damaged],
    );
    await orderEnd(scene, damaged);
    await orderEnd(scene, healthy);
    expect(await finish(scene)).toMatchObject({ revoked: 1, failed: 1 });
    expect((await grantsOf(scene, damaged))[0]).toMatchObject({
      ended_at: null,
      last_error: 'SealingError',
    });
    expect((await grantsOf(scene, healthy))[0]?.ended_at).not.toBeNull();
  });
});

describeOnEngines('an attempt that has ended without an outcome', { cluster: true }, (engine) => {
  let scene: Scene;
  let proxy: ClusterProxy;

  beforeAll(async () => {
    scene = await openScene({ engine, reconciles: false, configFile: 'createTimeoutSeconds: 1' });
    proxy = await openClusterProxy(scene.cluster);
  });

  afterAll(async () => {
    await proxy.stop();
    await scene.close();
  });

  it('KEB defect 4: is looked at once more, and what arrived after its end is removed', async () => {
    const instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
    const binding = newId('late');
    const late = proxy.misbehave({ on: /^POST .*\/cluster/, act: { kind: 'arrive-late' } });
    expect((await scene.platform.bind({ instance, binding })).status).toBe(503);
    expect(await grantsOf(scene, instance)).toMatchObject([{ proof: 'objects-gone' }]);
    expect(await scene.objects(binding)).toEqual([]);

    late.end();
    await until({
      what: 'the requests of before arrived',
      limitMs: 10_000,
      isSo: async () => (await scene.objects(binding)).length === 2,
    });
    expect(await finish(scene)).toEqual({ revoked: 0, failed: 0, lookedAgain: 0 });

    await scene.passTime(120);
    await proxy.takeDown();
    expect(await finish(scene)).toEqual({ revoked: 0, failed: 1, lookedAgain: 0 });
    await proxy.bringUp();
    await scene.passTime(6);
    expect(await finish(scene)).toEqual({ revoked: 0, failed: 0, lookedAgain: 1 });

    expect(await scene.objects(binding)).toEqual([]);
    expect((await grantsOf(scene, instance))[0]).toMatchObject({
      proof: 'objects-gone',
      next_try_at: null,
      lease_replica: null,
    });
    const events = scene.broker.log().map(({ event }) => event);
    expect(events.filter((event) => event === 'late-objects-removed')).toHaveLength(1);
    await scene.passTime(3_600);
    expect(await finish(scene)).toEqual({ revoked: 0, failed: 0, lookedAgain: 0 });
  });
});

describeOnEngines('many clusters', { cluster: true }, (engine) => {
  let scene: Scene;
  let sandbox: TestSandbox;

  beforeAll(async () => {
    sandbox = await startTestSandbox();
    scene = await openScene({ engine, reconciles: false });
  });

  afterEach(() => sandbox.sandbox.faults.clear());

  afterAll(async () => {
    await scene.close();
    await sandbox.stop();
  });

  const attach = (name: string) =>
    scene.attach({ kubeconfig: sandbox.openCluster(name).adminKubeconfig });

  it('one that is silent holds its own share of the workers, and delays none of the others', async () => {
    const silent = await attach('silent');
    await bindSome(scene, silent, 10);
    const healthy: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      const instance = await attach(name);
      await bindSome(scene, instance, 5);
      healthy.push(instance);
    }
    // First in the queue, so that whoever went by age alone would wait for it.
    await orderEnd(scene, silent);
    for (const instance of healthy) await orderEnd(scene, instance);
    const hang = sandbox.sandbox.faults.inject({
      on: /\/clusters\/silent\//,
      act: { kind: 'hang' },
    });
    const stopping = new AbortController();
    const startedAt = performance.now();
    const running = finishRevocations(brokerOf(scene), { signal: stopping.signal });
    await until({
      what: 'all of the others have ended',
      limitMs: 10_000,
      isSo: async () => {
        const grants = await Promise.all(healthy.map((instance) => grantsOf(scene, instance)));
        return grants.flat().every(({ ended_at: endedAt }) => endedAt !== null);
      },
    });
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    const held = (await grantsOf(scene, silent)).filter((grant) => grant.lease_replica !== null);
    expect(held).toHaveLength(4);
    expect(hang.seen()).toBeLessThanOrEqual(4);

    // Told to stop, it does so at once, and leaves nothing leased.
    const stoppedAt = performance.now();
    stopping.abort();
    expect(await running).toMatchObject({ revoked: 15, failed: 4 });
    expect(performance.now() - stoppedAt).toBeLessThan(2_000);
    const after = await grantsOf(scene, silent);
    expect(after.filter((grant) => grant.lease_replica !== null)).toEqual([]);
    hang.end();
    await orderEnd(scene, silent);
    expect(await finish(scene)).toMatchObject({ revoked: 10 });
  });

  it('while one does not answer, what becomes due meanwhile is done within seconds', async () => {
    const [silent, later] = [await attach('hangs'), await attach('later')];
    await bindSome(scene, silent, 1);
    await bindSome(scene, later, 1);
    sandbox.sandbox.faults.inject({ on: /\/clusters\/hangs\//, act: { kind: 'hang' } });
    await orderEnd(scene, silent);
    const stopping = new AbortController();
    const running = finishRevocations(brokerOf(scene), { signal: stopping.signal });
    await until({
      what: 'the pass is at work on the silent one',
      limitMs: 5_000,
      isSo: async () => (await grantsOf(scene, silent))[0]?.lease_replica !== null,
    });
    await orderEnd(scene, later);
    await until({
      what: 'the other one has ended',
      limitMs: 6_000,
      isSo: async () => (await grantsOf(scene, later))[0]?.ended_at !== null,
    });
    expect((await grantsOf(scene, silent))[0]).toMatchObject({ ended_at: null, tries: 0 });
    stopping.abort();
    await running;
    sandbox.sandbox.faults.clear();
    await orderEnd(scene, silent);
    await finish(scene);
  });

  it('what a replica had claimed when it crashed is done by another, and nothing before that', async () => {
    const instance = await attach('crash');
    await bindSome(scene, instance, 2);
    await orderEnd(scene, instance);
    const crashed = randomUUID();
    const now = scene.now();
    await scene.ledger.sql('insert into replicas (id, seen_at) values ($1, $2)', [crashed, now]);
    const claimed = await claimDueGrants(brokerOf(scene).db, {
      replicaId: crashed,
      now,
      leasedUntil: new Date(now.getTime() + 60_000),
      limit: 10,
      perInstance: 4,
      placesTaken: new Map(),
    });
    expect(claimed).toHaveLength(2);
    expect(await finish(scene)).toMatchObject({ revoked: 0, failed: 0 });
    await scene.passTime(7);
    expect(await finish(scene)).toMatchObject({ revoked: 2, failed: 0 });
  });

  it('a pass with nothing to do does nothing', async () => {
    expect(await expireBindings(brokerOf(scene))).toEqual({ expired: 0 });
    expect(await finish(scene)).toEqual({ revoked: 0, failed: 0, lookedAgain: 0 });
  });
});

describeWith({ postgres: true, cluster: true }, 'two replicas', () => {
  it('KEB defect 35: run their passes beside each other, and never work on one grant at once', async () => {
    const sandbox = await startTestSandbox();
    const scene = await openScene({ reconciles: false });
    try {
      const other = await scene.openReplica();
      const instances: string[] = [];
      for (let at = 0; at < 5; at += 1) {
        const { adminKubeconfig: kubeconfig } = sandbox.openCluster(`shared-${at}`);
        const instance = await scene.attach({ kubeconfig });
        await bindSome(scene, instance, 8);
        instances.push(instance);
      }
      // Slow enough that both are at it together.
      sandbox.sandbox.faults.inject({ on: /^PATCH /, act: { kind: 'delay', ms: 50 } });
      for (const instance of instances) await orderEnd(scene, instance);
      const reports = await Promise.all([
        finish(scene),
        finishRevocations(other.composition.broker, { signal: never }),
      ]);
      const revoked = reports.map((report) => report.revoked);
      expect((revoked[0] ?? 0) + (revoked[1] ?? 0)).toBe(40);
      expect(Math.min(...revoked)).toBeGreaterThan(0);
      const ends = [scene.broker, other].map((each) =>
        each.log().filter(({ event }) => event === 'binding-ended'),
      );
      expect(ends.map(({ length }) => length)).toEqual(revoked);
    } finally {
      await scene.close();
      await sandbox.stop();
    }
  });
});
