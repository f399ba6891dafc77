// DELETE of an instance: it ends the bindings in the transaction that accepts it, takes their rights away on the
// cluster, waits two minutes for a silent one and no longer, and is remembered for a day (C106 to C113). A
// failed deprovisioning that is repeated comes with the runtimes that can fail so.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { wakeOperations } from '../../../src/background/wake-operations.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeWith } from '../../support/needs.ts';
import type { Ids } from '../../support/platform.ts';
import { until } from '../../support/until.ts';
import { newId, openScene, type Scene } from '../bindings/scene.ts';
import { operationEnded, PATIENT_TEST_MS } from './waits.ts';

interface GrantRow {
  readonly binding_id: string;
  readonly revoking: boolean;
  readonly ended: boolean;
  readonly proof: string | null;
  readonly has_token: boolean;
  readonly last_error: string | null;
}

interface InstanceRow {
  readonly deleted: boolean;
  readonly has_access: boolean;
}

describeWith({ postgres: true, cluster: true }, 'deleting an instance', () => {
  let scene: Scene;
  let proxy: ClusterProxy;

  beforeAll(async () => {
    scene = await openScene();
    proxy = await openClusterProxy(scene.cluster);
  });

  afterAll(async () => {
    await scene.close();
    await proxy.stop();
  });

  async function grantsOf({ instance }: Ids): Promise<readonly GrantRow[]> {
    return await scene.ledger.sql<GrantRow & Record<string, unknown>>(
      `select g.binding_id, g.revoking_since is not null as revoking, g.ended_at is not null as ended,
              g.proof, g.sealed_token is not null as has_token, g.last_error
         from grants g join instances i on i.key = g.instance_key
        where i.id = $1 order by i.created_at, g.binding_id`,
      [instance],
    );
  }

  async function rowsOf({ instance }: Ids): Promise<readonly InstanceRow[]> {
    return await scene.ledger.sql<InstanceRow & Record<string, unknown>>(
      `select deleted_at is not null as deleted, sealed_access is not null as has_access
         from instances where id = $1 order by created_at`,
      [instance],
    );
  }

  it('C106, C107: KEB defect 9: with live bindings ends them at once, and their rights before it has succeeded', async () => {
    const { platform, eyes } = scene;
    const instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
    const [first, second] = [newId('first'), newId('second')].map((binding) => ({
      instance,
      binding,
    })) as [Required<Ids>, Required<Ids>];
    const tokens = await Promise.all(
      [first, second].map(async (ids) => (await platform.bind(ids)).body.credentials.token),
    );
    const held = proxy.misbehave({ on: /./, act: { kind: 'hold' } });

    expect((await platform.deprovision({ instance })).status).toBe(202);

    expect((await grantsOf({ instance })).map(({ revoking }) => revoking)).toEqual([true, true]);
    expect((await platform.getBinding(first)).status).toBe(404);
    expect((await platform.bindingOperation(first)).status).toBe(404);
    for (const ids of [first, { instance, binding: newId('new') }]) {
      expect(await platform.bind(ids)).toMatchObject({
        status: 422,
        body: { error: 'ConcurrencyError' },
      });
    }
    const unbinding = platform.unbind(first);
    await until({
      what: 'the deprovisioning has come to the cluster',
      limitMs: 20_000,
      isSo: () => held.seen() > 0,
    });
    expect((await platform.getInstance({ instance })).status).toBe(200);
    held.end();

    expect([200, 410]).toContain((await unbinding).status);
    expect(await operationEnded(platform, { instance })).toBe('succeeded');
    for (const token of tokens) {
      expect([401, 403]).toContain(await eyes.statusWith(token));
    }
    expect(await scene.objects(first.binding)).toEqual([]);
    expect(await scene.objects(second.binding)).toEqual([]);
    expect(await grantsOf({ instance })).toMatchObject([
      { ended: true, has_token: false, proof: expect.stringMatching(/./) as string },
      { ended: true, has_token: false, proof: expect.stringMatching(/./) as string },
    ]);
    expect(await rowsOf({ instance })).toEqual([{ deleted: true, has_access: false }]);
    expect((await platform.unbind(second)).status).toBe(410);
    expect((await platform.getBinding(second)).status).toBe(404);
  });

  it('goes on by itself when the cluster comes back before the two minutes are over', async () => {
    const { platform } = scene;
    const instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
    const ids = { instance, binding: newId('back') };
    await platform.bind(ids);
    await proxy.takeDown();
    await platform.deprovision(ids);
    await until({
      what: 'its user can read why it takes so long',
      limitMs: 20_000,
      isSo: async () =>
        (await platform.lastOperation(ids)).body['description'] ===
        '1 credentials are not revoked yet: the cluster does not answer as it should.',
    });
    await proxy.bringUp();
    expect(await operationEnded(platform, ids)).toBe('succeeded');
    expect(await scene.objects(ids.binding)).toEqual([]);
    expect(await rowsOf(ids)).toEqual([{ deleted: true, has_access: false }]);
  });

  it('gives its id back each time', async () => {
    const { platform } = scene;
    const instance = newId('again');
    for (const name of ['one', 'two', 'three']) {
      await scene.attach({ instance, parameters: { name } });
      expect((await platform.getInstance({ instance })).body['parameters']).toEqual({ name });
      expect((await platform.deprovision({ instance })).status).toBe(202);
      expect(await operationEnded(platform, { instance })).toBe('succeeded');
    }
  });

  it('needs no access that nothing of it is made with', async () => {
    const { platform, ledger } = scene;
    const instance = await scene.attach();
    await ledger.sql('update instances set sealed_access = $1 where id = $2', ['lost', instance]);
    await platform.deprovision({ instance });
    expect(await operationEnded(platform, { instance })).toBe('succeeded');
  });
});

// Beside each other, since both wait; each with a clock of its own.
describeWith({ postgres: true, cluster: true }, 'an instance', () => {
  it.concurrent(
    'KEB defect 44: of a silent cluster is deleted after two minutes; what is not revoked stays in the ledger, out of the way of the id, and nothing is bound to it',
    async ({ onTestFinished }) => {
      const scene = await openScene();
      onTestFinished(() => scene.close());
      const proxy = await openClusterProxy(scene.cluster);
      onTestFinished(() => proxy.stop());
      const { platform, ledger, eyes, broker } = scene;
      const instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
      const ids = { instance, binding: newId('stuck') };
      const { token } = (await platform.bind(ids)).body.credentials;
      // Refused at first, since that is known at once, and silent from then on.
      await proxy.takeDown();
      await platform.deprovision(ids);
      await until({
        what: 'the first try has failed',
        limitMs: 25_000,
        isSo: async () =>
          /not revoked yet/.test(String((await platform.lastOperation(ids)).body['description'])),
      });
      expect((await platform.lastOperation(ids)).body['state']).toBe('in progress');
      const silence = proxy.misbehave({ on: /./, act: { kind: 'hold' } });
      await proxy.bringUp();

      await scene.passTime(121);
      await wakeOperations(broker.composition.broker);
      expect(await operationEnded(platform, ids)).toBe('succeeded');
      expect(silence.seen()).toBeGreaterThan(0);

      expect((await platform.getInstance(ids)).status).toBe(404);
      expect((await platform.unbind(ids)).status).toBe(410);
      const asked = proxy.requests(/^POST /).length;
      for (const each of [ids, { instance, binding: newId('late') }]) {
        expect((await platform.bind(each)).status).toBe(404);
        expect((await platform.getBinding(each)).status).toBe(404);
      }
      expect(proxy.requests(/^POST /)).toHaveLength(asked);
      const stuck = `select g.ended_at, g.last_error, g.next_try_at is not null as is_tried_again,
                          i.sealed_access is not null as has_access
                     from grants g join instances i on i.key = g.instance_key where i.id = $1`;
      expect(await ledger.sql(stuck, [instance])).toEqual([
        {
          ended_at: null,
          last_error: expect.stringMatching(/^cluster: (timed-out|cancelled): /) as string,
          is_tried_again: true,
          has_access: true,
        },
      ]);
      // Never reported as done: the token still opens the cluster, and operators find it in the log.
      expect(await eyes.statusWith(token)).toBe(200);
      expect(broker.log()).toContainEqual(
        expect.objectContaining({ level: 'error', instanceId: instance, grants: 1 }),
      );

      proxy.behave();
      await scene.attach({ instance, kubeconfig: proxy.adminKubeconfig });
      expect((await platform.bind(ids)).status).toBe(201);
      expect((await platform.deprovision(ids)).status).toBe(202);
      expect(await operationEnded(platform, ids)).toBe('succeeded');
    },
    PATIENT_TEST_MS,
  );

  it.concurrent(
    'C113: that was deleted is told as such for a day, and is gone after it',
    async ({ onTestFinished }) => {
      const scene = await openScene();
      onTestFinished(() => scene.close());
      const { platform } = scene;
      const instance = await scene.attach();
      const { body } = await platform.deprovision({ instance });
      const operation = String(body['operation']);
      expect(await operationEnded(platform, { instance })).toBe('succeeded');

      await scene.passTime(24 * 60 * 60 - 60);
      for (const named of [undefined, operation, 'provision']) {
        expect(await platform.lastOperation({ instance }, named)).toMatchObject({
          status: 200,
          body: { state: 'succeeded', description: 'The instance is deleted.' },
        });
      }

      await scene.passTime(120);
      for (const named of [undefined, operation, 'provision']) {
        expect(await platform.lastOperation({ instance }, named)).toMatchObject({
          status: 410,
          body: {},
        });
      }
      expect((await platform.deprovision({ instance })).status).toBe(410);
      expect((await platform.getInstance({ instance })).status).toBe(404);

      await scene.attach({ instance });
      expect((await platform.lastOperation({ instance })).body['state']).toBe('succeeded');
    },
    PATIENT_TEST_MS,
  );
});
