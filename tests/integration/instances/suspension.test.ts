// Suspension and resumption over HTTP: `context.active` of a PATCH. All bindings of a suspended instance are ended; an
// attached cluster is left as it is and must be the same one at the resumption, a sandbox goes and comes back as another
// (docs/api.md, "Change, suspend, resume"). Which answer each state has is matrix.test.ts's.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wakeOperations } from '../../../src/background/wake-operations.ts';
import { beat } from '../../../src/storage/replicas.ts';
import { ownCluster } from '../../support/cluster.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { describeWith } from '../../support/needs.ts';
import { type Ids, type Platform, SANDBOX_PLAN_ID } from '../../support/platform.ts';
import { rawClient } from '../../support/raw-requests.ts';
import { until } from '../../support/until.ts';
import { newId, openScene, type Scene } from '../bindings/scene.ts';
import { announceBinding } from '../storage/ledger.ts';
import { RESUME, SUSPEND } from './instance-states.ts';
import { endOfOperation, operationEnded, PATIENT_TEST_MS } from './waits.ts';

async function untilEnded(platform: Platform, instance: string, given: object): Promise<void> {
  expect((await platform.update({ instance }, { ...given })).status).toBe(202);
  expect(await operationEnded(platform, { instance })).toBe('succeeded');
}

async function proofsOf({ ledger }: Pick<Scene, 'ledger'>, instance: string): Promise<unknown[]> {
  const rows = await ledger.sql<{ proof: unknown }>(
    `select proof from grants g join instances i on i.key = g.instance_key where i.id = $1
      order by g.intended_at`,
    [instance],
  );
  return rows.map(({ proof }) => proof);
}

describeOnEngines('an attached cluster that is suspended', { cluster: true }, (engine) => {
  let scene: Scene;
  let proxy: ClusterProxy;

  beforeAll(async () => {
    scene = await openScene({ engine });
    proxy = await openClusterProxy(scene.cluster);
  });

  afterAll(async () => {
    await scene.close();
    await proxy.stop();
  });

  it('has its tokens refused and its bindings ended, and is bound again once it is resumed', async () => {
    const { platform, eyes } = scene;
    const instance = await scene.attach();
    const ids = { instance, binding: newId('b') };
    const { token } = (await platform.bind(ids)).body.credentials;
    expect(await eyes.statusWith(token)).toBe(200);

    await untilEnded(platform, instance, SUSPEND);

    expect(await platform.lastOperation({ instance })).toMatchObject({
      status: 200,
      body: { state: 'succeeded', description: 'The instance is suspended.' },
    });
    expect([401, 403]).toContain(await eyes.statusWith(token));
    expect(await scene.objects(ids.binding)).toEqual([]);
    expect(await proofsOf(scene, instance)).toEqual(['refused']);
    expect((await platform.getBinding(ids)).status).toBe(404);
    expect((await platform.bind(ids)).status).toBe(400);
    expect((await platform.unbind(ids)).status).toBe(410);
    const again = await platform.update({ instance }, { ...SUSPEND, parameters: {} });
    expect([again.status, again.body]).toEqual([200, {}]);

    await untilEnded(platform, instance, RESUME);

    const bound = await platform.bind(ids);
    expect(bound.status).toBe(201);
    expect(bound.body.credentials.token).not.toBe(token);
    expect([401, 403]).toContain(await eyes.statusWith(token));
    expect((await platform.unbind(ids)).status).toBe(200);
  });

  it('keeps the context that came with it, and can be deleted', async () => {
    const { platform, ledger } = scene;
    const instance = await scene.attach();
    const context = { active: false, subaccount_id: 'moved' };
    await untilEnded(platform, instance, { context });
    expect(
      await ledger.sql('select subaccount_id from instances where id = $1', [instance]),
    ).toEqual([{ subaccount_id: 'moved' }]);
    expect((await platform.deprovision({ instance })).status).toBe(202);
    expect(await operationEnded(platform, { instance })).toBe('succeeded');
    expect((await platform.getInstance({ instance })).status).toBe(404);
  });

  it('whose resumption fails says why, stays suspended, and can be resumed by a repeat', async () => {
    const { platform } = scene;
    const instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
    await untilEnded(platform, instance, SUSPEND);
    const refused = proxy.misbehave({ on: /./, act: { kind: 'answer', status: 401 } });
    expect((await platform.update({ instance }, RESUME)).status).toBe(202);
    const { state, description } = await endOfOperation(platform, { instance });
    expect([state, description]).toEqual([
      'failed',
      'The cluster does not accept the credentials of the kubeconfig.',
    ]);
    expect((await platform.lastOperation({ instance })).body).toMatchObject({
      instance_usable: false,
      update_repeatable: true,
    });
    expect((await platform.bind({ instance, binding: newId('b') })).status).toBe(400);
    refused.end();

    await untilEnded(platform, instance, RESUME);

    expect((await platform.bind({ instance, binding: newId('b') })).status).toBe(201);
  });
});

describeWith({ postgres: true, cluster: true }, 'a suspension', () => {
  it(
    'waits for a silent cluster for two minutes; what is not revoked then is revoked when it answers',
    async ({ onTestFinished }) => {
      const scene = await openScene();
      onTestFinished(() => scene.close());
      const proxy = await openClusterProxy(scene.cluster);
      onTestFinished(() => proxy.stop());
      const { platform, eyes, ledger, broker } = scene;
      const instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
      const ids: Ids = { instance, binding: newId('stuck') };
      const { token } = (await platform.bind(ids)).body.credentials;
      await proxy.takeDown();
      expect((await platform.update(ids, SUSPEND)).status).toBe(202);
      await until({
        what: 'its user can read why it takes so long',
        limitMs: 25_000,
        isSo: async () =>
          /not revoked yet/.test(String((await platform.lastOperation(ids)).body['description'])),
      });

      await scene.passTime(121);
      await wakeOperations(broker.composition.broker);
      expect(await operationEnded(platform, ids)).toBe('succeeded');

      expect((await platform.getInstance(ids)).status).toBe(200);
      expect((await platform.bind(ids)).status).toBe(400);
      expect(await eyes.statusWith(token)).toBe(200);
      await proxy.bringUp();
      expect((await platform.unbind(ids)).status).toBe(200);
      expect([401, 403]).toContain(await eyes.statusWith(token));
      const unfinished = 'select 1 from grants where ended_at is null';
      expect(await ledger.sql(unfinished)).toEqual([]);
    },
    PATIENT_TEST_MS,
  );
});

describeWith({ postgres: true, ownCluster: true }, 'a resumption', () => {
  it('refuses another cluster that answers at the address by now', async ({ onTestFinished }) => {
    const cluster = await ownCluster();
    onTestFinished(() => cluster.stop());
    const scene = await openScene({ cluster });
    onTestFinished(() => scene.close());
    const { platform } = scene;
    const instance = await scene.attach();
    await untilEnded(platform, instance, SUSPEND);
    await cluster.restart({ asAnotherCluster: true });
    expect((await platform.update({ instance }, RESUME)).status).toBe(202);
    const { state, description } = await endOfOperation(platform, { instance });
    expect(state).toBe('failed');
    expect(description).toMatch(/another cluster than the one that is attached/);
  });
});

describe('a sandbox that is suspended', () => {
  let scene: Scene;
  let platform: Platform;

  beforeAll(async () => {
    scene = await openScene({ engine: 'embedded' });
    platform = scene.platform.forPlan(SANDBOX_PLAN_ID);
  });

  afterAll(() => scene.close());

  async function made(): Promise<string> {
    const instance = randomUUID();
    expect((await platform.create({ instance })).status).toBe(202);
    expect(await operationEnded(platform, { instance })).toBe('succeeded');
    return instance;
  }

  interface Row {
    readonly key: string;
    readonly runtime_id: string;
    readonly cluster_uid: string | null;
  }

  async function rowOf(instance: string): Promise<Row> {
    const [row] = await scene.ledger.sql<Row>(
      'select key, runtime_id, cluster_uid from instances where id = $1',
      [instance],
    );
    if (row === undefined) throw new Error(`there is no instance ${instance}`);
    return row;
  }

  it('KEB defect 28: goes, and comes back as another runtime without its old bindings', async () => {
    const instance = await made();
    const ids = { instance, binding: randomUUID() };
    const before = await rowOf(instance);
    const { credentials } = (await platform.bind(ids)).body;

    await untilEnded(platform, instance, SUSPEND);

    expect(scene.broker.composition.sandbox?.accessTo(before.key)).toBeUndefined();
    expect(await rowOf(instance)).toEqual({ ...before, cluster_uid: null });
    expect((await platform.unbind(ids)).status).toBe(410);
    const listed = await scene.broker.operator.bindings();
    expect(listed.body).toMatchObject({ data: [] });

    await untilEnded(platform, instance, RESUME);

    expect((await platform.getBinding(ids)).status).toBe(404);
    const after = await rowOf(instance);
    expect(after.runtime_id).not.toBe(before.runtime_id);
    expect(after.cluster_uid).not.toBe(before.cluster_uid);
    const again = await platform.bind(ids);
    expect(again.status).toBe(201);
    const { kubeconfig } = again.body.credentials;
    const path = '/api/v1/namespaces';
    const statusOf = async (token: string) =>
      (await rawClient(kubeconfig)({ method: 'GET', path, token })).status;
    expect(await statusOf(again.body.credentials.token)).toBe(200);
    expect(await statusOf(credentials.token)).toBe(401);
    await untilEnded(platform, instance, { parameters: { name: 'renamed' } });
    expect((await platform.getInstance({ instance })).body['parameters']).toEqual({
      name: 'renamed',
    });
  });

  it(
    'takes what could not be revoked with it, so that nobody looks for it on the next cluster',
    async () => {
      const instance = await made();
      const { key } = await rowOf(instance);
      const { db } = scene.broker.composition.broker;
      // Of a writer that lives, whatever time it becomes, and never ends, so that no try to revoke it may be made.
      const intendedAt = scene.now();
      const issuingUntil = new Date(intendedAt.getTime() + 3_600_000);
      const replicaId = randomUUID();
      await beat(db, { replicaId, at: issuingUntil });
      await announceBinding(db, key, { grant: { replicaId, intendedAt, issuingUntil } });

      expect((await platform.update({ instance }, SUSPEND)).status).toBe(202);
      await until({
        what: 'the suspension waits for the writer',
        limitMs: 25_000,
        isSo: async () =>
          /not revoked yet/.test(
            String((await platform.lastOperation({ instance })).body['description']),
          ),
      });
      await scene.passTime(121);
      await wakeOperations(scene.broker.composition.broker);
      expect(await operationEnded(platform, { instance })).toBe('succeeded');

      expect(await proofsOf(scene, instance)).toEqual(['cluster-gone']);
      expect(
        await scene.ledger.sql(
          'select 1 from grants where instance_key = $1 and next_try_at is not null',
          [key],
        ),
      ).toEqual([]);
      expect(scene.broker.log()).toContainEqual(
        expect.objectContaining({ event: 'binding-ended', proof: 'cluster-gone' }),
      );
      await untilEnded(platform, instance, RESUME);
      expect(await proofsOf(scene, instance)).toEqual(['cluster-gone']);
    },
    PATIENT_TEST_MS,
  );
});
