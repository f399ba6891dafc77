// PostgreSQL goes away and comes back: nothing is told as "there is no such binding", and an issue whose outcome could
// not be stored is settled by the row that announced it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestBroker } from '../../support/broker.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { ownPostgres } from '../../support/database.ts';
import { describeWith } from '../../support/needs.ts';
import type { Postgres } from '../../support/real-parts/postgres.ts';
import { until } from '../../support/until.ts';
import { expectErrorBody } from '../../integration/bindings/refusals.ts';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';

describeWith({ ownPostgres: true, cluster: true }, 'while the database is away', () => {
  let postgres: Postgres;
  let scene: Scene;
  /** With a create limit of five seconds. */
  let hasty: TestBroker;
  let proxy: ClusterProxy;
  let instance: string;

  beforeAll(async () => {
    postgres = await ownPostgres();
    const database = { url: postgres.url, env: {}, drop: () => postgres.stop() };
    scene = await openScene({ database });
    hasty = await scene.openReplica({ configFile: 'createTimeoutSeconds: 5' });
    proxy = await openClusterProxy(scene.cluster);
    instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
  });

  afterAll(async () => {
    await proxy.stop();
    await scene.close();
  });

  async function comesBack(): Promise<void> {
    await postgres.restart();
    await until({
      what: 'the broker reads its database again',
      limitMs: 20_000,
      isSo: async () => (await scene.platform.lastOperation({ instance })).status === 200,
    });
  }

  it('KEB defect 25: every call is 503 with Retry-After, and afterwards all is as it was', async () => {
    const ids = { instance, binding: newId('outage') };
    const bound = await scene.platform.bind(ids);
    const before = await scene.ledger.dump();
    await postgres.kill();
    const asked = [
      () => scene.platform.getBinding(ids),
      () => scene.platform.bind(ids),
      () => scene.platform.bind({ instance, binding: newId('new') }),
      () => scene.platform.unbind(ids),
      () => scene.platform.bindingOperation(ids),
    ];
    for (const ask of asked) {
      const answer = await ask();
      expect(answer.status).toBe(503);
      expectErrorBody(answer);
    }
    await comesBack();
    expect((await scene.platform.getBinding(ids)).body.credentials).toEqual(bound.body.credentials);
    const after = await scene.ledger.dump();
    expect([after.bindings, after.grants]).toEqual([before.bindings, before.grants]);
    await scene.platform.unbind(ids);
  });

  it('an issue whose outcome cannot be stored is 503, hands out nothing, and is settled once its lease is over', async () => {
    const ids = { instance, binding: newId('outcome') };
    const held = proxy.misbehave({ on: /POST .*\/token$/, act: { kind: 'hold' } });
    const binding = hasty.platform.bind(ids);
    await until({ what: 'the token is asked for', limitMs: 10_000, isSo: () => held.seen() === 1 });
    await postgres.kill();
    held.end();

    // It is tried again until the create limit.
    const answer = await binding;
    expect(answer.status).toBe(503);
    expectErrorBody(answer);

    await comesBack();
    expect((await scene.platform.getBinding(ids)).status).toBe(404);
    // Create limit and slack: until then the row says that somebody is at work.
    await scene.passTime(31);
    expect((await scene.platform.bindingOperation(ids)).body).toMatchObject({ state: 'failed' });
    // 410 where the reconciler has been there before.
    expect((await scene.platform.unbind(ids)).status).toBeOneOf([200, 410]);
    expect(await scene.objects(ids.binding)).toEqual([]);
    expect((await scene.platform.bind(ids)).status).toBe(201);
    await scene.platform.unbind(ids);
  });

  it('a revocation that could not be recorded is 503, and a repeat finishes it', async () => {
    const ids = { instance, binding: newId('revoked') };
    await scene.platform.bind(ids);
    const held = proxy.misbehave({ on: /^DELETE .*serviceaccounts/, act: { kind: 'hold' } });
    const unbinding = scene.platform.unbind(ids);
    await until({ what: 'the account is deleted', limitMs: 10_000, isSo: () => held.seen() === 1 });
    await postgres.kill();
    held.end();

    const answer = await unbinding;
    expect(answer.status).toBe(503);
    expectErrorBody(answer);

    await comesBack();
    expect((await scene.platform.getBinding(ids)).status).toBe(404);
    expect((await scene.platform.unbind(ids)).status).toBe(200);
    expect((await scene.platform.unbind(ids)).status).toBe(410);
    expect(await scene.objects(ids.binding)).toEqual([]);
  });
});
