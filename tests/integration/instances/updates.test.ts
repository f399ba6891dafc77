// PATCH of an attached cluster over HTTP: another access to the same cluster, another name, another context; what is
// refused, and what a failed update leaves (OSB 2.17, Updating). Which answer each state has is matrix.test.ts's.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { aroundLedger } from '../../support/ledger-dump.ts';
import {
  type BindingBody,
  type Ids,
  type OsbAnswer,
  OWN_CLUSTER_PLAN_ID,
  SERVICE_ID,
} from '../../support/platform.ts';
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';
import { refusal } from '../bindings/refusals.ts';
import { newId, openScene, parseKubeconfig, type Scene } from '../bindings/scene.ts';
import { drawToken, withToken } from './attached-cluster.ts';
import { endOfOperation, operationEnded } from './waits.ts';

const FLAG = 'accepts_incomplete=true';

/** Another plan that can be had. */
const FARM_ID = '0f2a3a52-6f0e-4a39-9d4c-6a3f0b8f6a11';
const FARM = `plans: {farm: {id: ${FARM_ID}, description: a farm, provisioner: own-cluster}}`;

describeOnEngines('an update of an attached cluster', { cluster: true }, (engine) => {
  let scene: Scene;
  let oldWay: ClusterProxy;
  let newWay: ClusterProxy;

  beforeAll(async () => {
    scene = await openScene({ engine, reconciles: false, configFile: FARM });
    [oldWay, newWay] = await Promise.all([
      openClusterProxy(scene.cluster),
      openClusterProxy(scene.cluster),
    ]);
  });

  afterAll(async () => {
    await scene.close();
    await Promise.all([oldWay.stop(), newWay.stop()]);
  });

  function update(instance: string, given: object, flag = FLAG): Promise<OsbAnswer> {
    return scene.platform.update({ instance }, { ...given }, flag);
  }

  async function updated(instance: string, given: object): Promise<void> {
    expect((await update(instance, given)).status).toBe(202);
    expect(await operationEnded(scene.platform, { instance })).toBe('succeeded');
  }

  async function bound(ids: Ids): Promise<BindingBody['credentials']> {
    const { status, body } = await scene.platform.bind(ids);
    expect(status).toBe(201);
    return body.credentials;
  }

  /** Without the operations: what the instance and its bindings are. */
  async function instanceRow(instance: string): Promise<unknown> {
    const [row] = await scene.ledger.sql<{ row: unknown }>(
      'select to_jsonb(i) as row from instances i where id = $1',
      [instance],
    );
    return row?.row;
  }

  describe('to another access', () => {
    it('C84, C93, C95: is served as it was until it has succeeded, and its bindings live on by the new one', async () => {
      const { platform, eyes, ledger } = scene;
      const kubeconfig = oldWay.adminKubeconfig;
      const instance = await scene.attach({ kubeconfig, parameters: { name: 'old' } });
      const live = { instance, binding: newId('live') };
      const credentials = await bound(live);
      expect(credentials.server).toBe(oldWay.server);
      const change = { parameters: { kubeconfig: newWay.adminKubeconfig, name: 'new' } };
      const held = newWay.misbehave({ on: /./, act: { kind: 'hold' } });

      const accepted = await update(instance, change);
      expect(accepted.status).toBe(202);
      expect(accepted.body['operation']).toMatch(/^[\w-]{1,100}$/);
      await until({
        what: 'the new access is tried',
        limitMs: 20_000,
        isSo: () => held.seen() > 0,
      });
      const again = await update(instance, change);
      expect([again.status, again.body]).toEqual([202, accepted.body]);
      expect((await platform.getInstance({ instance })).body['parameters']).toEqual({
        name: 'old',
      });
      const during = await bound({ instance, binding: newId('during') });
      expect(during.server).toBe(oldWay.server);
      held.end();
      expect(await operationEnded(platform, { instance })).toBe('succeeded');

      expect((await platform.getInstance({ instance })).body['parameters']).toEqual({
        name: 'new',
      });
      const { body } = await platform.getBinding(live);
      expect(body.credentials).toMatchObject({ token: credentials.token, server: newWay.server });
      expect(parseKubeconfig(body.credentials.kubeconfig)['current-context']).toBe('new');
      expect(body.credentials.certificate_authority_data).not.toBe(
        credentials.certificate_authority_data,
      );
      expect(await eyes.statusWith(credentials.token)).toBe(200);
      await oldWay.takeDown();
      await bound({ instance, binding: newId('after') });
      expect((await platform.unbind(live)).status).toBe(200);
      await oldWay.bringUp();
      expect(await ledger.sql('select 1 from operations where sealed_access is not null')).toEqual(
        [],
      );
      const repeated = await update(instance, change, '');
      expect([repeated.status, repeated.body]).toEqual([200, {}]);
    });

    it('ends at once what could not be revoked by the old one', async () => {
      const { platform, ledger, eyes } = scene;
      const instance = await scene.attach({ kubeconfig: oldWay.adminKubeconfig });
      const ids = { instance, binding: newId('stuck') };
      const { token } = await bound(ids);
      const refused = oldWay.misbehave({ on: /./, act: { kind: 'answer', status: 401 } });
      expect((await platform.unbind(ids)).status).toBe(503);

      await updated(instance, { parameters: { kubeconfig: newWay.adminKubeconfig } });

      await until({
        what: 'the grant has ended, with nobody else to end it',
        limitMs: 20_000,
        isSo: async () => {
          const unfinished = 'select 1 from grants where binding_id = $1 and ended_at is null';
          return (await ledger.sql(unfinished, [ids.binding])).length === 0;
        },
      });
      refused.end();
      expect([401, 403]).toContain(await eyes.statusWith(token));
    });

    it('mends one that cannot be opened any more', async () => {
      const { platform, ledger } = scene;
      const instance = await scene.attach();
      await ledger.sql('update instances set sealed_access = $1 where id = $2', ['lost', instance]);
      expect((await platform.bind({ instance, binding: newId('b') })).status).toBe(500);

      await updated(instance, { parameters: { kubeconfig: scene.cluster.adminKubeconfig } });

      await bound({ instance, binding: newId('b') });
    });
  });

  describe('that fails', () => {
    let sandbox: TestSandbox;

    beforeAll(async () => {
      sandbox = await startTestSandbox();
    });

    afterAll(() => sandbox.stop());

    it.each([
      [
        'the kubeconfig of another cluster',
        () => sandbox.openCluster('other').adminKubeconfig,
        /^The kubeconfig leads to another cluster than the one that is attached/,
      ],
      [
        'a token that the cluster does not know',
        () => withToken(newWay.adminKubeconfig, drawToken()),
        /^The cluster does not accept the credentials of the kubeconfig\.$/,
      ],
    ])(
      'C32, C98, C99: by %s leaves all as it was, and says so',
      async (_, kubeconfigOf, sentence) => {
        const { platform } = scene;
        const instance = await scene.attach({ parameters: { name: 'kept' } });
        const live = { instance, binding: newId('live') };
        const credentials = await bound(live);
        const before = await instanceRow(instance);
        const parameters = { kubeconfig: kubeconfigOf(), name: 'other' };
        const context = { user_id: 'other@example.org' };

        expect((await update(instance, { parameters, context })).status).toBe(202);
        const { state, description } = await endOfOperation(platform, { instance });

        expect(state).toBe('failed');
        expect(description).toMatch(sentence);
        expect((await platform.lastOperation({ instance })).body).toMatchObject({
          instance_usable: true,
          update_repeatable: true,
        });
        expect(await instanceRow(instance)).toEqual(before);
        expect((await platform.getBinding(live)).body.credentials).toEqual(credentials);
        await bound({ instance, binding: newId('next') });
        await updated(instance, { parameters: { name: 'later' } });
        const { body } = await platform.lastOperation({ instance });
        expect(Object.keys(body).toSorted()).toEqual(['description', 'state']);
      },
    );

    it('without a right that is needed names it', async () => {
      const instance = await scene.attach();
      const identity = { commonName: newId('nobody') };
      const kubeconfig = await scene.cluster.kubeconfigFor(identity);
      await update(instance, { parameters: { kubeconfig } });
      const { state, description } = await endOfOperation(scene.platform, { instance });
      expect(state).toBe('failed');
      expect(description).toMatch(/lacks rights on the cluster: .*serviceaccounts/);
    });
  });

  describe('of parameters', () => {
    it('C89: replaces what is given, keeps the rest, and asks no cluster for a name', async () => {
      const { platform } = scene;
      const kubeconfig = oldWay.adminKubeconfig;
      const parameters = { name: 'first', region: 'eu' };
      const instance = await scene.attach({ kubeconfig, parameters });
      const asked = oldWay.requests().length;
      await updated(instance, { parameters: { name: 'second' } });

      expect(oldWay.requests()).toHaveLength(asked);
      const { body } = await platform.getInstance({ instance });
      expect(body['parameters']).toEqual({ name: 'second', region: 'eu' });
      const repeat = { kubeconfig, name: 'second', region: 'eu' };
      expect((await platform.create({ instance }, repeat)).status).toBe(200);
      expect((await platform.create({ instance }, { kubeconfig, ...parameters })).status).toBe(409);
      expect((await update(instance, { parameters: { region: 'eu' } })).status).toBe(200);
      expect((await update(instance, { parameters: null })).status).toBe(200);
    });

    it.each([
      ['an unknown key', { Kubeconfig: 'x' }, 'parameters.Kubeconfig is not known'],
      ['another region', { region: 'us' }, 'parameters.region is not known'],
      ['a name that is none', { name: '' }, 'parameters.name must NOT have fewer'],
      ['no kubeconfig', { kubeconfig: 'text' }, 'kubeconfig'],
      ['a kubeconfig of another type', { kubeconfig: {} }, 'parameters.kubeconfig must be'],
    ])(
      'C31, C32, C99: is refused for %s, and nothing has changed',
      async (_, parameters, words) => {
        const instance = await scene.attach();
        for (const flag of [FLAG, '']) {
          const answer = await refusal(scene, () => update(instance, { parameters }, flag));
          expect(answer.status).toBe(400);
          expect(answer.body['description']).toContain(words);
        }
      },
    );
  });

  describe('of what names it', () => {
    it.each([
      ['an unknown service', { service_id: 'other' }],
      ['a plan that is not in the catalog', { plan_id: '361c511f-f939-4621-b228-d0fb79a1fe15' }],
      ['no service', { service_id: undefined }],
      ['an empty plan', { plan_id: '' }],
    ])('C87, C88: is 400 for %s, known instance or not', async (_, named) => {
      const instance = await scene.attach();
      for (const each of [instance, newId('unknown')]) {
        const answer = await refusal(scene, () => update(each, { ...named, parameters: {} }));
        expect(answer.status).toBe(400);
      }
    });

    it('C88, C96: with its own plan, and whatever it was before, is served', async () => {
      const instance = await scene.attach();
      const named = { service_id: SERVICE_ID, plan_id: OWN_CLUSTER_PLAN_ID };
      const previous_values = { plan_id: 7, service_id: 'other', organization_id: null };
      expect((await update(instance, { ...named, previous_values })).status).toBe(200);
      await updated(instance, { ...named, previous_values, parameters: { name: 'named' } });
      expect((await scene.platform.getInstance({ instance })).body['plan_id']).toBe(
        OWN_CLUSTER_PLAN_ID,
      );
    });

    it.each([FLAG, ''])(
      'C90: by another plan of the catalog is not supported (%s)',
      async (flag) => {
        const instance = await scene.attach();
        const { answer, before, after } = await aroundLedger(scene.ledger, () =>
          update(instance, { plan_id: FARM_ID }, flag),
        );
        expect([answer.status, answer.body]).toEqual([
          422,
          {
            error: 'UpdateNotSupported',
            description: 'The plan of this service instance cannot be changed.',
            instance_usable: true,
            update_repeatable: false,
          },
        ]);
        expect(after).toEqual(before);
      },
    );

    it('C92: by a maintenance version that no plan has is a conflict', async () => {
      const instance = await scene.attach();
      const maintenance_info = { version: '1.0.0' };
      const answer = await refusal(scene, () => update(instance, { maintenance_info }));
      expect([answer.status, answer.body['error']]).toEqual([422, 'MaintenanceInfoConflict']);
      expect((await update(instance, { maintenance_info: null })).status).toBe(200);
    });
  });

  it('C94: of the context alone is kept at once, as far as it is given', async () => {
    const { ledger } = scene;
    const instance = await scene.attach();
    const accounts = () =>
      ledger.sql('select global_account_id, subaccount_id, user_id from instances where id = $1', [
        instance,
      ]);
    const all = { globalaccount_id: 'ga', subaccount_id: 'sa', user_id: 'User@Example.org' };
    const first = await update(instance, { context: { ...all, active: true } }, '');
    expect([first.status, first.body]).toEqual([200, {}]);
    await update(instance, { context: { platform: 'cf', globalaccount_id: 'moved' } });

    expect(await accounts()).toEqual([
      { global_account_id: 'moved', subaccount_id: 'sa', user_id: 'user@example.org' },
    ]);
    const again = { context: { globalaccount_id: 'moved' } };
    const { answer, before, after } = await aroundLedger(ledger, () => update(instance, again));
    expect(answer.status).toBe(200);
    expect(after).toEqual(before);
    await updated(instance, { parameters: { name: 'a' }, context: { subaccount_id: 'sb' } });
    expect(await accounts()).toMatchObject([{ global_account_id: 'moved', subaccount_id: 'sb' }]);
  });

  it('C28, C90, C98: of an instance that has failed says that it is not usable', async () => {
    const instance = newId('failed');
    const kubeconfig = withToken(scene.cluster.adminKubeconfig, drawToken());
    await scene.platform.provision({ instance }, kubeconfig);
    expect(await operationEnded(scene.platform, { instance })).toBe('failed');
    const { body } = await scene.platform.lastOperation({ instance });
    expect(Object.keys(body).toSorted()).toEqual(['description', 'state']);

    const { answer, before, after } = await aroundLedger(scene.ledger, () =>
      update(instance, { parameters: { name: 'a' } }),
    );
    expect([answer.status, answer.body]).toMatchObject([
      422,
      { error: 'InstanceNotUpdateable', instance_usable: false, update_repeatable: false },
    ]);
    expect(after).toEqual(before);
  });
});
