// DELETE while an instance is being provisioned: the creation stops, the step that runs meanwhile writes nothing more,
// and polling tells of both (OSB 2.17, Deprovisioning; C105).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type ClusterProxy,
  type Misbehaviour,
  openClusterProxy,
} from '../../support/cluster-proxy.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';
import { openScene, type Scene } from '../bindings/scene.ts';
import { operationEnded } from './waits.ts';

/** On one that no other test has, so that its making can be seen. */
const NAMESPACE = `cancelled-${randomUUID()}`;

describeWith(
  { postgres: true, cluster: true },
  'C105: provisioning that is cancelled by DELETE',
  () => {
    let scene: Scene;
    let proxy: ClusterProxy;

    beforeAll(async () => {
      scene = await openScene({ configFile: `plans: {own_cluster: {namespace: ${NAMESPACE}}}` });
      proxy = await openClusterProxy(scene.cluster);
    });

    afterAll(async () => {
      await scene.close();
      await proxy.stop();
    });

    /** Provisioning that waits in one of its calls. */
    async function held(on: RegExp) {
      const ids = { instance: randomUUID() };
      const fault = proxy.misbehave({ on, act: { kind: 'hold' }, times: 1 });
      const accepted = await scene.platform.provision(ids, proxy.adminKubeconfig);
      await until({
        what: 'the call is held',
        limitMs: 20_000,
        isSo: () => fault.seen() === 1,
      });
      return { ids, fault, operation: String(accepted.body['operation']) };
    }

    /** Lets the call go on, and returns once the runner that waited for it has found that it is not wanted any more. */
    async function letGo(fault: Misbehaviour): Promise<void> {
      const { length } = scene.broker.log();
      fault.end();
      await until({
        what: 'the runner that was held has stopped',
        limitMs: 20_000,
        isSo: () =>
          scene.broker
            .log()
            .slice(length)
            .some(({ event }) => event === 'operation-taken-away'),
      });
    }

    it.each([
      ['the cluster is reached', /^GET .*kube-system$/],
      ['rights are asked for', /selfsubjectaccessreviews$/],
      ['the namespace is made', /^POST .*namespaces$/],
    ])('ends while %s, and what was held comes too late', async (_, on) => {
      const { platform, ledger } = scene;
      const { ids, fault, operation } = await held(on);

      const deleted = await platform.deprovision(ids);
      expect(deleted.status).toBe(202);
      expect(deleted.body['operation']).not.toBe(operation);
      expect(await operationEnded(platform, ids)).toBe('succeeded');
      expect((await platform.lastOperation(ids, operation)).body).toEqual({
        state: 'failed',
        description: 'Provisioning was cancelled by a request to delete the instance.',
      });
      expect((await platform.getInstance(ids)).status).toBe(404);

      const before = await ledger.dump();
      await letGo(fault);
      expect(await ledger.dump()).toEqual(before);
      expect((await platform.lastOperation(ids, operation)).body['state']).toBe('failed');
    });

    it('gives the id back at once: the next instance of it does not feel the runner of the first', async () => {
      const { platform } = scene;
      const { ids, fault, operation } = await held(/^GET .*kube-system$/);
      await platform.deprovision(ids);
      expect(await operationEnded(platform, ids)).toBe('succeeded');

      const again = await platform.provision(ids, proxy.adminKubeconfig, { name: 'again' });
      expect(again.status).toBe(202);
      expect(await operationEnded(platform, ids)).toBe('succeeded');
      await letGo(fault);
      expect((await platform.getInstance(ids)).body['parameters']).toEqual({ name: 'again' });
      expect((await platform.lastOperation(ids)).body['state']).toBe('succeeded');
      expect((await platform.lastOperation(ids, operation)).body['state']).toBe('failed');
      expect((await platform.bind({ ...ids, binding: 'b' })).status).toBe(201);
    });

    it('leaves no access behind', async () => {
      const { ids, fault } = await held(/^GET .*kube-system$/);
      await scene.platform.deprovision(ids);
      expect(await operationEnded(scene.platform, ids)).toBe('succeeded');
      fault.end();
      const [row] = await scene.ledger.sql(
        'select sealed_access, deleted_at is not null as deleted from instances where id = $1',
        [ids.instance],
      );
      expect(row).toEqual({ sealed_access: null, deleted: true });
    });
  },
);
