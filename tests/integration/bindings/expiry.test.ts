// Expiry, by a clock in the test's hand: what is expired is not handed out, blocks nothing, and is taken over by the
// next bind (docs/api.md, from "Bind" to "Unbind").
import { afterAll, beforeAll, expect, it } from 'vitest';
import { finishRevocation } from '../../../src/broker/finish-revocation.ts';
import { findBinding } from '../../../src/storage/bind-facts.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { refusal } from './refusals.ts';
import { openScene, type Scene } from './scene.ts';

describeOnEngines('a binding that has expired', { cluster: true }, (engine) => {
  let scene: Scene;
  let instance: string;

  const SEEN = ['taken-over', 'other-parameters', 'deleted', 'swept', 'swept-anew', 'boundary'];

  beforeAll(async () => {
    scene = await openScene({ engine, reconciles: false });
    instance = await scene.attach();
    for (const binding of SEEN) {
      await scene.platform.bind({ instance, binding }, { expiration_seconds: 600 });
    }
    await scene.platform.bind({ instance, binding: 'long' }, { expiration_seconds: 1800 });
    await scene.passTime(610);
  });

  afterAll(() => scene.close());

  /** What the reconciler does; here it does nothing by itself. */
  async function sweep(binding: string): Promise<void> {
    const { broker } = scene.broker.composition;
    const found = await findBinding(broker.db, { instanceId: instance, bindingId: binding });
    if (found?.binding === undefined) throw new Error(`no binding ${binding}`);
    await finishRevocation(broker, {
      instance: found.instance,
      grantId: found.binding.grant.id,
      signal: AbortSignal.timeout(10_000),
    });
  }

  it('C138: is 404 to a fetch, and last_operation says that it was made', async () => {
    const ids = { instance, binding: 'boundary' };
    expect((await refusal(scene, () => scene.platform.getBinding(ids))).status).toBe(404);
    expect(await scene.platform.bindingOperation(ids)).toMatchObject({
      status: 200,
      body: { state: 'succeeded' },
    });
  });

  it('takes no slot, so that only the one that lives counts', async () => {
    const bound = await scene.platform.bind({ instance, binding: 'counts' });
    expect(bound.headers.get('x-runtime-broker-bindings-remaining')).toBe('8');
  });

  it.each([
    ['taken-over', 600],
    ['other-parameters', 900],
  ])(
    'KEB defect 7: %s: a bind of what has expired revokes what was left and issues anew',
    async (binding, seconds) => {
      const ids = { instance, binding };
      const before = await scene.objects(binding);
      expect(before).toHaveLength(3);

      const bound = await scene.platform.bind(ids, { expiration_seconds: seconds });

      expect(bound.status).toBe(201);
      const after = await scene.objects(binding);
      expect(after).toHaveLength(3);
      const uids = new Set(before.map(({ metadata }) => metadata.uid));
      expect(after.filter(({ metadata }) => uids.has(metadata.uid))).toEqual([]);
      const names = new Set([...before, ...after].map(({ metadata }) => metadata.name));
      expect(names.size).toBe(2);
      expect(await scene.eyes.statusWith(bound.body.credentials.token)).toBe(200);
    },
  );

  it('C144: is deleted with 200 once, its objects with it, and then is 410', async () => {
    const ids = { instance, binding: 'deleted' };
    expect(await scene.objects('deleted')).toHaveLength(3);
    expect(await scene.platform.unbind(ids)).toMatchObject({ status: 200, body: {} });
    expect(await scene.objects('deleted')).toEqual([]);
    const again = await refusal(scene, () => scene.platform.unbind(ids));
    expect(again).toMatchObject({ status: 410, body: {} });
    expect((await scene.platform.bindingOperation(ids)).status).toBe(404);
  });

  it('answers the same when it was swept before anybody asked', async () => {
    const ids = { instance, binding: 'swept' };
    await sweep('swept');
    expect(await scene.objects('swept')).toEqual([]);
    expect((await scene.platform.getBinding(ids)).status).toBe(404);
    expect((await scene.platform.bindingOperation(ids)).body).toMatchObject({ state: 'succeeded' });
    expect((await scene.platform.unbind(ids)).status).toBe(200);
    expect((await scene.platform.unbind(ids)).status).toBe(410);
  });

  it('C130: is bound anew when it was swept', async () => {
    await sweep('swept-anew');
    const ids = { instance, binding: 'swept-anew' };
    expect((await scene.platform.bind(ids, { expiration_seconds: 600 })).status).toBe(201);
    expect(await scene.objects('swept-anew')).toHaveLength(3);
  });

  it('one of ten frees its slot with its expiry, swept or not', async () => {
    const full = await scene.attach();
    const bind = (binding: string, seconds: number) =>
      scene.platform.bind({ instance: full, binding }, { expiration_seconds: seconds });
    // The cluster's clock was not moved along: by the broker's, this one lives for 690 seconds.
    await bind('b-0', 1300);
    for (let at = 1; at < 10; at += 1) await bind(`b-${at}`, 7200);
    await refusal(scene, () => bind('next', 7200));
    await scene.passTime(700);
    expect((await bind('next', 7200)).status).toBe(201);
    await refusal(scene, () => bind('b-0', 1300));
  });

  it('does not hold its instance: deprovisioning removes what it left', async () => {
    const going = await scene.attach();
    // Issued with less than the broker's clock is ahead: past its expiry at once.
    await scene.platform.bind({ instance: going, binding: 'left' }, { expiration_seconds: 600 });
    expect(await scene.objects('left')).toHaveLength(3);
    await scene.platform.deprovision({ instance: going });
    await expect
      .poll(() => scene.platform.getInstance({ instance: going }), { timeout: 20_000 })
      .toMatchObject({ status: 404 });
    expect(await scene.objects('left')).toEqual([]);
  });
});
