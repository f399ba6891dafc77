// The announcement of a bind is lost while it is at work: its database failed over to a standby that lags, or was put
// back to an older state. Only the writer knows what it made, and it takes it away.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';

describeWith({ postgres: true, cluster: true }, 'a bind whose row is lost', () => {
  let scene: Scene;
  let proxy: ClusterProxy;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene();
    proxy = await openClusterProxy(scene.cluster);
    instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
  });

  afterAll(async () => {
    await proxy.stop();
    await scene.close();
  });

  /** As it was before the announcement. */
  const loseRow = (binding: string) =>
    scene.ledger.sql(
      `with lost as (delete from grants where binding_id = $1)
      delete from bindings where id = $1`,
      [binding],
    );

  it.each([
    ['whose token comes, stores nothing', 200],
    ['whose token is refused', 500],
  ])('%s, and leaves nothing on the cluster', async (_, status) => {
    const ids = { instance, binding: newId('lost') };
    const held = proxy.misbehave({
      on: /POST .*\/token$/,
      act: status === 200 ? { kind: 'hold-answer' } : { kind: 'hold' },
      times: 1,
    });
    const bound = scene.platform.bind(ids);
    await until({
      what: 'the token is asked for, and the rest is made',
      limitMs: 10_000,
      isSo: async () => held.seen() === 1 && (await scene.objects(ids.binding)).length === 3,
    });
    await loseRow(ids.binding);
    if (status !== 200) await takeAccountAway(ids.binding);
    held.end();

    expect((await bound).status).toBe(422);
    expect(await scene.objects(ids.binding)).toEqual([]);
    expect((await scene.platform.bind(ids)).status).toBe(201);
    expect(await scene.objects(ids.binding)).toHaveLength(3);
  });

  /** So that the request for a token is refused. */
  async function takeAccountAway(binding: string): Promise<void> {
    const [account] = await scene.objects(binding);
    const accounts = '/api/v1/namespaces/kyma-system/serviceaccounts';
    await scene.eyes.call('DELETE', `${accounts}/${account?.metadata.name ?? ''}`);
  }
});
