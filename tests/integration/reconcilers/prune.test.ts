// A day after its end the ledger forgets, and answers stay the same until then (docs/architecture.md, "What goes on by
// itself"; KEB defect 34: rows that outlive their instance).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { finishRevocations } from '../../../src/background/finish-revocations.ts';
import { pruneHistory } from '../../../src/background/prune-history.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { newId, openScene, type Scene, untilOperationEnds } from '../bindings/scene.ts';

const HOUR = 3_600;

describeOnEngines('a day after its end', { cluster: true }, (engine) => {
  let scene: Scene;
  let proxy: ClusterProxy;

  beforeAll(async () => {
    scene = await openScene({ engine, reconciles: false });
    proxy = await openClusterProxy(scene.cluster);
  });

  afterAll(async () => {
    await proxy.stop();
    await scene.close();
  });

  const prune = () => pruneHistory(scene.broker.composition.broker);

  const rowsOf = async (instance: string) => {
    const [row] = await scene.ledger.sql<Record<string, number>>(
      `select count(distinct i.key)::int as instances, count(distinct b.id)::int as bindings,
        count(distinct g.id)::int as grants, count(distinct o.id)::int as operations
      from instances i
      left join bindings b on b.instance_key = i.key
      left join grants g on g.instance_key = i.key
      left join operations o on o.instance_key = i.key
      where i.id = $1`,
      [instance],
    );
    return row;
  };

  it('KEB defect 34: a deleted instance is forgotten with all that was its own, and until then remembered', async () => {
    const instance = await scene.attach();
    const ids = { instance, binding: newId('ends') };
    await scene.platform.bind(ids);
    expect((await scene.platform.deprovision({ instance })).status).toBe(202);
    await untilOperationEnds(scene.platform, { instance }, 'succeeded');

    await scene.passTime(23 * HOUR);
    await prune();
    expect(await scene.platform.lastOperation({ instance })).toMatchObject({
      status: 200,
      body: { state: 'succeeded' },
    });
    expect((await scene.platform.unbind(ids)).status).toBe(410);
    expect(await rowsOf(instance)).toMatchObject({ instances: 1, bindings: 1, grants: 1 });

    await scene.passTime(HOUR + 60);
    expect(await prune()).toMatchObject({ instances: 1, bindings: 1, grants: 1 });
    expect(await rowsOf(instance)).toEqual({ instances: 0, bindings: 0, grants: 0, operations: 0 });
    expect((await scene.platform.unbind(ids)).status).toBe(410);
    expect((await scene.platform.lastOperation({ instance })).status).toBe(404);
    expect(await prune()).toEqual({ grants: 0, bindings: 0, instances: 0, operations: 0 });
  });

  it('a binding is forgotten, and its instance lives on', async () => {
    const instance = await scene.attach();
    const ids = { instance, binding: newId('forgotten') };
    await scene.platform.bind(ids);
    expect((await scene.platform.unbind(ids)).status).toBe(200);
    await scene.passTime(24 * HOUR + 1);
    expect(await prune()).toMatchObject({ grants: 1, bindings: 1, instances: 0 });
    expect(await rowsOf(instance)).toEqual({ instances: 1, bindings: 0, grants: 0, operations: 1 });
    expect((await scene.platform.unbind(ids)).status).toBe(410);
    expect((await scene.platform.getInstance({ instance })).status).toBe(200);
  });

  it('what is not revoked is not forgotten, however old, nor what revoking it needs', async () => {
    const instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
    // The cluster's clock was not moved along: by ours it is past its expiry as soon as it is issued.
    await scene.platform.bind({ instance, binding: newId('stuck') });
    await proxy.takeDown();
    await scene.platform.deprovision({ instance });
    await scene.passTime(125);
    await untilOperationEnds(scene.platform, { instance }, 'succeeded');
    await scene.passTime(48 * HOUR);
    expect(await prune()).toEqual({ grants: 0, bindings: 0, instances: 0, operations: 1 });
    expect(await rowsOf(instance)).toMatchObject({ instances: 1, bindings: 1, grants: 1 });

    await proxy.bringUp();
    const { broker } = scene.broker.composition;
    const { signal } = new AbortController();
    expect(await finishRevocations(broker, { signal })).toMatchObject({ revoked: 1 });
    await scene.passTime(24 * HOUR + 1);
    expect(await prune()).toMatchObject({ grants: 1, bindings: 1, instances: 1 });
  });
});
