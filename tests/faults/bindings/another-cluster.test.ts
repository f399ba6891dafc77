// Another cluster answers at the address of the one that was attached, with certificates that it trusts: nothing is
// made there, and what is missing there proves nothing (docs/architecture.md, "One binding, walked").
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/needs.ts';
import { ownCluster } from '../../support/cluster.ts';
import { openClusterEyes } from '../../support/cluster-administrator.ts';
import type { KubeApiserver } from '../../support/real-parts/kube-apiserver.ts';
import { until } from '../../support/until.ts';
import { expectErrorBody } from '../../integration/bindings/refusals.ts';
import { openScene, type Scene } from '../../integration/bindings/scene.ts';

describeWith({ postgres: true, ownCluster: true }, 'another cluster at the same address', () => {
  let cluster: KubeApiserver;
  let scene: Scene;
  let instance: string;

  beforeAll(async () => {
    cluster = await ownCluster();
    scene = await openScene({ cluster });
    instance = await scene.attach();
    await scene.platform.bind({ instance, binding: 'live' });
    await scene.platform.bind({ instance, binding: 'other' });
    await cluster.restart({ asAnotherCluster: true });
    // Its namespace is not what stops a bind there.
    const eyes = openClusterEyes(cluster.adminKubeconfig);
    await eyes.call('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'kyma-system' },
    });
    await eyes.close();
  });

  afterAll(async () => {
    await scene.close();
    await cluster.stop();
  });

  it('a bind is 502, nothing is made there, and the id and the slot stay free', async () => {
    for (let tries = 0; tries < 2; tries += 1) {
      const answer = await scene.platform.bind({ instance, binding: 'new' });
      expect(answer.status).toBe(502);
      expectErrorBody(answer);
      expect(await scene.objects()).toEqual([]);
    }
    expect((await scene.platform.bindingOperation({ instance, binding: 'new' })).body).toEqual({
      state: 'failed',
    });
  });

  it('a DELETE is 503 with the cause recorded, however often it is asked', async () => {
    for (let tries = 1; tries <= 2; tries += 1) {
      const answer = await scene.platform.unbind({ instance, binding: 'live' });
      expect(answer.status).toBe(503);
      expectErrorBody(answer);
      expect(
        await scene.ledger.sql(
          'select tries, last_error, ended_at from grants where binding_id = $1',
          ['live'],
        ),
      ).toEqual([{ tries, last_error: 'other-cluster', ended_at: null }]);
    }
  });

  it('a bind of what is being deleted is CE: it cannot be finished there', async () => {
    const answer = await scene.platform.bind({ instance, binding: 'live' });
    expect(answer).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } });
  });

  it('what lives is still handed out: the cluster is not asked', async () => {
    expect((await scene.platform.getBinding({ instance, binding: 'other' })).status).toBe(200);
  });

  it('is noticed after an API server that only restarted too: then all goes on', async () => {
    const again = await scene.attach();
    expect((await scene.platform.bind({ instance: again, binding: 'b' })).status).toBe(201);
    await cluster.restart();
    await until({
      what: 'the restarted cluster serves binds',
      limitMs: 20_000,
      isSo: async () =>
        (await scene.platform.bind({ instance: again, binding: 'c' })).status === 201,
    });
    expect((await scene.platform.unbind({ instance: again, binding: 'b' })).status).toBe(200);
    expect(await scene.objects('b')).toEqual([]);
  });
});
