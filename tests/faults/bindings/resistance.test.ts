// Objects that are not ours, and holders who do not want to lose their rights: the one is never touched, the other is
// refused all the same (docs/architecture.md, "The promises"; KEB defect 21).
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Draw } from '../../../src/broker/broker.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeWith } from '../../support/needs.ts';
import { expectErrorBody } from '../../integration/bindings/refusals.ts';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ACCOUNTS = '/api/v1/namespaces/kyma-system/serviceaccounts';

/** The cluster is shared with other files, so the names of this one begin with letters of its own. */
const RUN = randomBytes(3).toString('hex');

/** What is drawn next is known, so that a stranger can be there first. */
class ForeseenDraw implements Draw {
  #count = 0;

  readonly uuid = (): string => randomUUID();

  readonly letters = (length: number): string => {
    this.#count += 1;
    return this.#lettersOf(this.#count, length);
  };

  nextLetters(length: number): string {
    return this.#lettersOf(this.#count + 1, length);
  }

  #lettersOf(count: number, length: number): string {
    return RUN + String(count).padStart(length - RUN.length, '0');
  }
}

describeWith({ postgres: true, cluster: true }, 'on a cluster that others use too', () => {
  const draw = new ForeseenDraw();
  let scene: Scene;
  let proxy: ClusterProxy;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene({ draw });
    proxy = await openClusterProxy(scene.cluster);
    instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
  });

  afterEach(() => proxy.behave());

  afterAll(async () => {
    await proxy.stop();
    await scene.close();
  });

  interface Meta {
    readonly metadata: { readonly uid: string; readonly resourceVersion: string };
  }

  const collections = {
    ServiceAccount: ACCOUNTS,
    ClusterRole: `${RBAC}/clusterroles`,
    ClusterRoleBinding: `${RBAC}/clusterrolebindings`,
  };

  const KINDS = Object.keys(collections) as (keyof typeof collections)[];

  function bodyOf(kind: keyof typeof collections, name: string) {
    const group = 'rbac.authorization.k8s.io';
    const apiVersion = kind === 'ServiceAccount' ? 'v1' : `${group}/v1`;
    return {
      apiVersion,
      kind,
      metadata: { name },
      ...(kind === 'ClusterRole'
        ? { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }
        : {}),
      ...(kind === 'ClusterRoleBinding'
        ? { roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'view' } }
        : {}),
    };
  }

  const read = async (kind: keyof typeof collections, name: string) =>
    (await scene.eyes.call('GET', `${collections[kind]}/${name}`)) as Meta;

  it.each(KINDS)(
    'KEB defect 21: a %s that has the name already is not adopted, not touched, and stays',
    async (kind) => {
      const ids = { instance, binding: newId('foreign') };
      const name = `kyma-binding-${ids.binding}-${draw.nextLetters(10)}`;
      const made = (await scene.eyes.call('POST', collections[kind], bodyOf(kind, name))) as Meta;

      const answer = await scene.platform.bind(ids);

      expect(answer.status).toBe(502);
      expectErrorBody(answer);
      const after = await read(kind, name);
      expect(after.metadata).toEqual(made.metadata);
      expect(await scene.objects(ids.binding)).toEqual([]);
      const events = scene.broker
        .log()
        .filter(({ event, grant }) => event === 'foreign-object-left-alone' && grant === name);
      expect(events).toMatchObject([{ kind, uid: made.metadata.uid }]);
      // The next attempt has another name.
      expect((await scene.platform.bind(ids)).status).toBe(201);
      expect((await scene.platform.unbind(ids)).status).toBe(200);
      expect((await read(kind, name)).metadata).toEqual(made.metadata);
      await scene.eyes.call('DELETE', `${collections[kind]}/${name}`);
    },
  );

  it.each(KINDS)(
    'a %s that was replaced by another of its name counts as gone, and is left alone',
    async (kind) => {
      const ids = { instance, binding: newId('replaced') };
      const bound = await scene.platform.bind(ids);
      const [object] = await scene.objects(ids.binding);
      const name = object?.metadata.name ?? '';
      await scene.eyes.call('DELETE', `${collections[kind]}/${name}`);
      const made = (await scene.eyes.call('POST', collections[kind], bodyOf(kind, name))) as Meta;

      expect((await scene.platform.unbind(ids)).status).toBe(200);

      expect((await read(kind, name)).metadata).toEqual(made.metadata);
      expect([401, 403]).toContain(await scene.eyes.statusWith(bound.body.credentials.token));
      expect(await scene.objects(ids.binding)).toEqual([]);
      await scene.eyes.call('DELETE', `${collections[kind]}/${name}`);
    },
  );

  it('what is missing already is no obstacle', async () => {
    const ids = { instance, binding: newId('missing') };
    await scene.platform.bind(ids);
    for (const { kind, metadata } of await scene.objects(ids.binding)) {
      const collection = collections[kind as keyof typeof collections];
      await scene.eyes.call('DELETE', `${collection}/${metadata.name}`);
    }
    expect((await scene.platform.unbind(ids)).status).toBe(200);
  });

  it('objects of ours are found by name and uid, whatever their labels say by now', async () => {
    const ids = { instance, binding: newId('unlabelled') };
    await scene.platform.bind(ids);
    const objects = await scene.objects(ids.binding);
    for (const { kind, metadata } of objects) {
      const collection = collections[kind as keyof typeof collections];
      await scene.eyes.call('PATCH', `${collection}/${metadata.name}`, {
        metadata: { labels: null, annotations: null },
      });
    }
    expect((await scene.platform.unbind(ids)).status).toBe(200);
    for (const { kind, metadata } of objects) {
      const gone = read(kind as keyof typeof collections, metadata.name);
      await expect(gone).rejects.toMatchObject({ status: 404 });
    }
  });

  describe('a holder', () => {
    it('who adds himself to the role binding’s subjects and other bindings has no way in', async () => {
      const ids = { instance, binding: newId('subjects') };
      const bound = await scene.platform.bind(ids);
      const [account] = await scene.objects(ids.binding);
      const name = account?.metadata.name ?? '';
      await scene.eyes.call('PATCH', `${RBAC}/clusterrolebindings/${name}`, {
        subjects: [
          { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:serviceaccounts' },
        ],
      });
      expect((await scene.platform.unbind(ids)).status).toBe(200);
      expect([401, 403]).toContain(await scene.eyes.statusWith(bound.body.credentials.token));
      expect(await scene.objects(ids.binding)).toEqual([]);
    });
  });
});
