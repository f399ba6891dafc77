// A cluster that is away: what cannot be issued blocks nothing, what cannot be revoked is never told as done, and when
// the cluster is back a repeat settles everything (docs/api.md, "Bind" and "Unbind"; KEB defects 3, 31).
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';
import { expectErrorBody, refusal } from '../../integration/bindings/refusals.ts';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';

describeWith({ postgres: true, cluster: true }, 'while the cluster is away', () => {
  let scene: Scene;
  let proxy: ClusterProxy;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene({ reconciles: false });
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

  it('KEB defect 3: ten binds are 503 and block neither their ids nor the instance', async () => {
    instance = await attach();
    await proxy.takeDown();
    for (let at = 0; at < 10; at += 1) {
      const answer = await scene.platform.bind({ instance, binding: `b-${at}` });
      expect(answer.status).toBe(503);
      expectErrorBody(answer);
    }
    // Not the limit: the cluster is what is wrong with the eleventh too.
    expect((await scene.platform.bind({ instance, binding: 'eleventh' })).status).toBe(503);
    await proxy.bringUp();

    for (let at = 0; at < 10; at += 1) {
      const answer = await scene.platform.bind({ instance, binding: `b-${at}` });
      expect(answer.status).toBe(201);
      expect(answer.headers.get('x-runtime-broker-bindings-remaining')).toBe(String(9 - at));
    }
    await refusal(scene, () => scene.platform.bind({ instance, binding: 'eleventh' }));
  });

  it('what lives is still handed out', async () => {
    instance = await attach();
    const ids = { instance, binding: newId('live') };
    const bound = await scene.platform.bind(ids);
    await proxy.takeDown();
    expect((await scene.platform.getBinding(ids)).body.credentials).toEqual(bound.body.credentials);
    expect(await scene.platform.bind(ids)).toMatchObject({ status: 200, body: bound.body });
    await proxy.bringUp();
  });

  it('KEB defect 31: a DELETE is 503 as often as it is asked, and recorded; back, it is 200', async () => {
    instance = await attach();
    const ids = { instance, binding: newId('away') };
    const bound = await scene.platform.bind(ids);
    await proxy.takeDown();
    for (let tries = 1; tries <= 2; tries += 1) {
      const answer = await scene.platform.unbind(ids);
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('5');
      expectErrorBody(answer);
      expect((await scene.platform.getBinding(ids)).status).toBe(404);
      const [grant] = await scene.ledger.sql<{
        tries: number;
        last_error: string;
        in_seconds: number;
      }>(
        `select tries, last_error,
          extract(epoch from next_try_at)::float8 - $2::float8 as in_seconds
        from grants where binding_id = $1`,
        [ids.binding, scene.now().getTime() / 1000],
      );
      expect(grant?.tries).toBe(tries);
      expect(grant?.last_error).toContain('unreachable');
      // The delay grows: 5, then 10 seconds.
      expect(grant?.in_seconds).toBeGreaterThan(5 * tries - 2);
      expect(grant?.in_seconds).toBeLessThanOrEqual(5 * tries);
    }
    expect(await scene.eyes.statusWith(bound.body.credentials.token)).toBe(200);

    await proxy.bringUp();

    expect((await scene.platform.unbind(ids)).status).toBe(200);
    expect([401, 403]).toContain(await scene.eyes.statusWith(bound.body.credentials.token));
    expect(await scene.objects(ids.binding)).toEqual([]);
    expect((await scene.platform.unbind(ids)).status).toBe(410);
  });

  it('a DELETE that is told to come back later passes on when', async () => {
    instance = await attach();
    const ids = { instance, binding: newId('busy') };
    await scene.platform.bind(ids);
    proxy.misbehave({
      on: /^PATCH /,
      act: { kind: 'answer', status: 429, headers: { 'retry-after': '23' } },
    });
    const answer = await scene.platform.unbind(ids);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('23');
    proxy.behave();
    expect((await scene.platform.unbind(ids)).status).toBe(200);
  });

  it.each([
    ['the role binding is emptied', /^PATCH .*clusterrolebindings/],
    ['the role binding is deleted', /^DELETE .*clusterrolebindings/],
    ['the account is deleted', /^DELETE .*serviceaccounts/],
    ['the role is deleted', /^DELETE .*clusterroles\//],
    ['something is read back', /^GET .*kyma-binding-/],
    ['the token is asked with', /^GET .*secrets/],
  ])('a DELETE survives a cut while %s: 200 now or on repeat', async (_, on) => {
    instance = await attach();
    for (const kind of ['cut', 'cut-answer'] as const) {
      const ids = { instance, binding: newId('cut') };
      const bound = await scene.platform.bind(ids);
      const fault = proxy.misbehave({ on, act: { kind }, times: 2 });
      const first = await scene.platform.unbind(ids);
      expect(first.status).toBeOneOf([200, 503]);
      expect(fault.seen()).toBeGreaterThan(0);
      proxy.behave();
      expect((await scene.platform.unbind(ids)).status).toBe(first.status === 200 ? 410 : 200);
      expect([401, 403]).toContain(await scene.eyes.statusWith(bound.body.credentials.token));
      expect(await scene.objects(ids.binding)).toEqual([]);
    }
  });

  it('a DELETE is not done while the cluster still honours the token', async () => {
    instance = await attach();
    const ids = { instance, binding: newId('honoured') };
    await scene.platform.bind(ids);
    const asked = proxy.misbehave({
      on: /^GET .*secrets\?limit=1$/,
      act: { kind: 'answer', status: 200 },
    });
    const unbinding = scene.platform.unbind(ids);
    await until({ what: 'it was asked thrice', limitMs: 10_000, isSo: () => asked.seen() >= 3 });
    expect((await scene.platform.bindingOperation(ids)).status).toBe(404);
    asked.end();
    expect((await unbinding).status).toBe(200);
  });

  it('KEB defect 34: deprovisioning is accepted, ends the bindings at once, and finishes when the cluster is back', async () => {
    instance = await attach();
    const ids = { instance, binding: newId('going') };
    const bound = await scene.platform.bind(ids);
    await proxy.takeDown();
    expect((await scene.platform.deprovision(ids)).status).toBe(202);
    expect((await scene.platform.getBinding(ids)).status).toBe(404);
    expect((await scene.platform.bind(ids)).body).toMatchObject({ error: 'ConcurrencyError' });
    await proxy.bringUp();
    // A platform may unbind meanwhile; it does not wait for the operation's next try.
    expect((await scene.platform.unbind(ids)).status).toBeOneOf([200, 410]);
    expect([401, 403]).toContain(await scene.eyes.statusWith(bound.body.credentials.token));
    await until({
      what: 'the instance is gone',
      limitMs: 25_000,
      isSo: async () => (await scene.platform.getInstance(ids)).status === 404,
    });
    // No row outlives its instance as something that is still owed.
    expect(
      await scene.ledger.sql(
        `select g.id from grants g join instances i on i.key = g.instance_key
        where i.id = $1 and g.ended_at is null`,
        [instance],
      ),
    ).toEqual([]);
    expect((await scene.platform.unbind(ids)).status).toBe(410);
  });
});
