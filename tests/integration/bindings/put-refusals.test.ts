// PUT of a binding that is refused: the table of docs/api.md, "Bind", row by row and in its order. Each 4xx leaves the
// ledger as it was (C31).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import {
  bindingPath,
  type Ids,
  OWN_CLUSTER_PLAN_ID,
  type OsbAnswer,
  SERVICE_ID,
} from '../../support/platform.ts';
import { refusal } from './refusals.ts';
import { newId, openScene, type Scene, untilOperationEnds } from './scene.ts';

const OFFER = { service_id: SERVICE_ID, plan_id: OWN_CLUSTER_PLAN_ID };

/** A plan of the catalog that is not the instance's. */
const OTHER_PLAN_ID = '361c511f-f939-4621-b228-d0fb79a1fe15';

describeOnEngines('a bind that is refused', { cluster: true }, (engine) => {
  let scene: Scene;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene({ engine, reconciles: false });
    instance = await scene.attach();
  });

  afterAll(() => scene.close());

  const put = (ids: Ids, body: unknown): Promise<OsbAnswer> =>
    scene.platform.call({ method: 'PUT', path: bindingPath(ids), body });

  const refused = (ids: Ids, body: unknown) => refusal(scene, () => put(ids, body));

  describe('by its form: 400', () => {
    it.each<[string, unknown, string]>([
      ['no service_id', { plan_id: OWN_CLUSTER_PLAN_ID }, 'service_id'],
      ['no plan_id', { service_id: SERVICE_ID }, 'plan_id'],
      ['an empty plan_id', { ...OFFER, plan_id: '' }, 'plan_id'],
      ['a service_id that is a number', { ...OFFER, service_id: 1 }, 'service_id'],
      ['a body that is null', null, ''],
      ['a body that is an array', [], ''],
      ['parameters that are a list', { ...OFFER, parameters: [] }, 'parameters'],
      ['a text for a lifetime', withSeconds('600'), 'expiration_seconds'],
      ['half a second', withSeconds(600.5), 'expiration_seconds'],
      ['a lifetime of true', withSeconds(true), 'expiration_seconds'],
      ['a predecessor', { ...OFFER, predecessor_binding_id: 'x' }, 'predecessor_binding_id'],
      ['a context that is a text', { ...OFFER, context: 'x' }, 'context'],
    ])('%s', async (_, body, named) => {
      const answer = await refused({ instance, binding: newId('form') }, body);
      expect(answer.status).toBe(400);
      expect(answer.body['description']).toContain(named);
    });

    it('KEB defect 11: a misspelt key is refused by its name, and does not mean the default', async () => {
      const body = { ...OFFER, parameters: { expirationSeconds: 900 } };
      const answer = await refused({ instance, binding: newId('misspelt') }, body);
      expect(answer).toMatchObject({
        status: 400,
        body: { description: 'parameters.expirationSeconds is not known.' },
      });
    });

    it('is asked before the instance is looked for', async () => {
      const nowhere = { instance: newId('nowhere'), binding: 'b' };
      expect((await refused(nowhere, withSeconds('600'))).status).toBe(400);
    });
  });

  it('an unknown instance: 404, whatever the ids of service and plan', async () => {
    const nowhere = { instance: newId('nowhere'), binding: 'b' };
    expect((await refused(nowhere, OFFER)).status).toBe(404);
    expect((await refused(nowhere, { service_id: 'x', plan_id: 'y' })).status).toBe(404);
    expect((await refused(nowhere, withSeconds(0))).status).toBe(404);
  });

  it('KEB defect 12: ids that are not the instance’s: 400, before its state is looked at', async () => {
    const ids = { instance, binding: newId('offer') };
    for (const other of [
      { service_id: 'other' },
      { plan_id: 'other' },
      { plan_id: OTHER_PLAN_ID },
    ]) {
      const answer = await refused(ids, { ...OFFER, ...other });
      expect(answer.status).toBe(400);
      expect(answer.body['description']).toContain('service_id and plan_id');
    }
  });

  it('ids that are not the instance’s are refused for a live binding too', async () => {
    const ids = { instance, binding: newId('live') };
    await scene.platform.bind(ids);
    expect((await refused(ids, { ...OFFER, plan_id: OTHER_PLAN_ID })).status).toBe(400);
    await scene.platform.unbind(ids);
  });

  describe('C58, C129: by the state of its instance', () => {
    it.each([
      ['provision', 'in progress', 422],
      ['deprovision', 'in progress', 422],
      ['suspend', 'in progress', 422],
      ['resume', 'in progress', 422],
      ['provision', 'failed', 400],
      ['deprovision', 'failed', 400],
      ['suspend', 'succeeded', 400],
      ['resume', 'failed', 400],
    ])(
      'KEB defects 8, 9 and 23: a bind while the latest operation is %s, %s: %i',
      async (type, state, status) => {
        const held = await scene.attach();
        const live = { instance: held, binding: 'live' };
        expect((await scene.platform.bind(live)).status).toBe(201);
        await pretend(held, type, state);

        for (const ids of [live, { instance: held, binding: 'new' }]) {
          const answer = await refused(ids, OFFER);
          expect(answer.status).toBe(status);
          expect(answer.body['error']).toBe(status === 422 ? 'ConcurrencyError' : undefined);
          expect((await refused(ids, { ...OFFER, plan_id: 'other' })).status).toBe(400);
        }
        // The state decides before the bounds and the conflict are asked.
        expect((await refused(live, withSeconds(1))).status).toBe(status);
      },
    );

    it('an instance whose provisioning has really failed: 400', async () => {
      const kubeconfig = await scene.cluster.kubeconfigFor({ commonName: newId('nobody') });
      const failing = { instance: newId('failed') };
      await scene.platform.provision(failing, kubeconfig);
      await untilOperationEnds(scene.platform, failing, 'failed');
      expect((await refused({ ...failing, binding: 'b' }, OFFER)).status).toBe(400);
    });

    it('an instance that is updated is served', async () => {
      const updated = await scene.attach();
      await pretend(updated, 'update', 'in progress');
      expect((await put({ instance: updated, binding: 'b' }, OFFER)).status).toBe(201);
    });
  });

  it('a live binding with other parameters: 409, and it lives on', async () => {
    const ids = { instance, binding: newId('conflict') };
    const bound = await scene.platform.bind(ids, { expiration_seconds: 600 });
    for (const other of [OFFER, withSeconds(601), withSeconds(0), withSeconds(1e300)]) {
      expect((await refused(ids, other)).status).toBe(409);
    }
    expect((await scene.platform.getBinding(ids)).body.credentials).toEqual(bound.body.credentials);
    await scene.platform.unbind(ids);
  });

  it('parameters are what the request said: saying the default is not saying nothing', async () => {
    const ids = { instance, binding: newId('said') };
    await scene.platform.bind(ids);
    expect((await refused(ids, withSeconds(600))).status).toBe(409);
    for (const same of [OFFER, { ...OFFER, parameters: {} }, withSeconds(null)]) {
      expect((await put(ids, same)).status).toBe(200);
    }
    await scene.platform.unbind(ids);
  });

  it.each<[number, string]>([
    [0, 'expiration_seconds cannot be less than 600'],
    [-600, 'expiration_seconds cannot be less than 600'],
    [599, 'expiration_seconds cannot be less than 600'],
    [7201, 'expiration_seconds cannot be greater than 7200'],
    [1e300, 'expiration_seconds cannot be greater than 7200'],
  ])('KEB defect 11: a lifetime of %d seconds: 400', async (seconds, description) => {
    const ids = { instance, binding: newId('bounds') };
    const answer = await refused(ids, withSeconds(seconds));
    expect(answer).toMatchObject({ status: 400, body: { description } });
    expect(answer.body).not.toHaveProperty('error');
  });

  it.each([600, 7200])('a lifetime of %d seconds is served', async (seconds) => {
    const ids = { instance, binding: newId('bounds') };
    expect((await put(ids, withSeconds(seconds))).status).toBe(201);
    await scene.platform.unbind(ids);
  });

  it('leaves nothing on the cluster', async () => {
    const names = (await scene.objects()).map(({ metadata }) => metadata.annotations);
    const ofRefused = names.filter((each) =>
      /^(form|misspelt|offer|bounds)/.test(each?.['runtime-broker/binding-id'] ?? ''),
    );
    expect(ofRefused).toEqual([]);
  });

  /** Types and states of operations whose routes are not there yet, or that would pass too soon to be met. */
  async function pretend(id: string, type: string, state: string): Promise<void> {
    await scene.ledger.sql(
      `update operations set type = $2, state = $3,
        finished_at = case when $3 = 'in progress' then null else now() end,
        deadline = now() + interval '1 day', next_run_at = now() + interval '1 day'
      where instance_key = (select key from instances where id = $1)`,
      [id, type, state],
    );
  }
});

function withSeconds(seconds: unknown) {
  return { ...OFFER, parameters: { expiration_seconds: seconds } };
}
