// What stands before a cluster (an ingress, a load balancer) answers 404 with a page of its own while it knows no way to
// the API server. Nobody but the API server can say that an object is gone.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClusterProxy, type FaultAct, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';

describeWith({ postgres: true, cluster: true }, 'a 404 that no API server has given', () => {
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

  const grantOf = async (binding: string) => {
    const [row] = await scene.ledger.sql<{ name: string; tries: number; ended: boolean }>(
      'select name, tries, ended_at is not null as ended from grants where binding_id = $1',
      [binding],
    );
    if (row === undefined) throw new Error(`no grant of ${binding}`);
    return row;
  };

  const untilGrant = (
    binding: string,
    what: string,
    isSo: (grant: Awaited<ReturnType<typeof grantOf>>) => boolean,
  ) => until({ what, limitMs: 20_000, isSo: async () => isSo(await grantOf(binding)) });

  const page = (contentType: string, body: string): FaultAct => ({
    kind: 'answer',
    status: 404,
    headers: { 'content-type': contentType },
    body,
  });

  it.each([
    ['a page', page('text/html', '<h1>404 page not found</h1>')],
    ['plain text', page('text/plain', 'default backend - 404')],
    ['JSON of its own', page('application/json', '{"type":"error","status":404}')],
  ])('with %s ends nothing: what has expired is revoked when it is over', async (_, act) => {
    const binding = newId('page');
    await scene.platform.bind({ instance, binding }, { expiration_seconds: 600 });
    const { name } = await grantOf(binding);
    proxy.misbehave({ on: new RegExp(name), act });
    await scene.passTime(601);
    await untilGrant(binding, 'was tried', ({ tries, ended }) => tries > 0 || ended);

    expect(await grantOf(binding)).toMatchObject({ ended: false });
    expect(await scene.objects(binding)).toHaveLength(3);

    proxy.behave();
    await scene.passTime(60);
    await untilGrant(binding, 'has ended', ({ ended }) => ended);
    expect(await scene.objects(binding)).toEqual([]);
  });
});
