// The broker and the cluster do not know each other any more: the cluster's certificate is of another authority, or it
// does not accept the admin access that was stored; before a request, and in the middle of one. Then trust is back, or
// another access has been stored meanwhile. Cells of the fault matrix (docs/reliability.md 2) that no single answer of
// an API server makes.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { serializeAccess } from '../../../src/kubernetes/cluster-access.ts';
import { readKubeconfig } from '../../../src/kubernetes/read-kubeconfig.ts';
import { accessPlace } from '../../../src/storage/instances.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { administratorToken } from '../../support/cluster-administrator.ts';
import { describeWith } from '../../support/needs.ts';
import type { OsbAnswer } from '../../support/platform.ts';
import { until } from '../../support/until.ts';
import { withToken } from '../../integration/instances/attached-cluster.ts';
import { expectErrorBody } from '../../integration/bindings/refusals.ts';
import { claimsOf, newId, openScene, type Scene } from '../../integration/bindings/scene.ts';

const BIND_CALLS = [
  ['the account', /^POST .*\/serviceaccounts$/],
  ['the token', /^POST .*\/token$/],
  ['the role', /^POST .*\/clusterroles$/],
  ['the role binding', /^POST .*\/clusterrolebindings$/],
] as const;

const UNBIND_CALLS = [
  ['the subjects', /^PATCH /],
  ['the deletion of the role binding', /^DELETE .*\/clusterrolebindings\//],
  ['the deletion of the account', /^DELETE .*\/serviceaccounts\//],
  ['the deletion of the role', /^DELETE .*\/clusterroles\//],
  ['a look', /^GET .*\/kyma-binding-/],
] as const;

const NOT_TRUSTED = 'The cluster refused the request: its certificate is not trusted.';
const NOT_ACCEPTED = 'The cluster refused the request: the admin access is not accepted any more.';

/** An API server caches for ten seconds whose token it has seen, however dead its account; the rest is for a busy machine. */
const FORGOTTEN_LIMIT_MS = 25_000;

interface Bound {
  readonly instance: string;
  readonly binding: string;
}

describeWith({ postgres: true, cluster: true }, 'a cluster', () => {
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

  const named = (word: string): Bound => ({ instance, binding: newId(word) });

  async function newInstance(): Promise<void> {
    instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
  }

  async function live(): Promise<Bound & { readonly token: string }> {
    const ids = named('live');
    const { status, body } = await scene.platform.bind(ids);
    expect(status).toBe(201);
    return { ...ids, token: body.credentials.token };
  }

  function expectRefused(answer: OsbAnswer<unknown>, description: string): void {
    expect(answer).toMatchObject({ status: 502, body: { description } });
    expectErrorBody(answer);
  }

  /** Once the fault has ended: the repeat is served, three objects are there, and after a DELETE none. */
  async function expectRepeatWorks(ids: Bound): Promise<void> {
    const repeated = await scene.platform.bind(ids);
    expect(repeated.status).toBe(201);
    expect(await scene.objects(ids.binding)).toHaveLength(3);
    expect(await scene.eyes.statusWith(repeated.body.credentials.token)).toBe(200);
    expect(repeated.headers.get('x-runtime-broker-bindings-remaining')).toBe('9');
    await expectRevocationWorks({ ...ids, token: repeated.body.credentials.token });
  }

  async function expectRevocationWorks(ids: Bound & { readonly token: string }): Promise<void> {
    expect((await scene.platform.unbind(ids)).status).toBe(200);
    expect(await scene.objects(ids.binding)).toEqual([]);
    expect([401, 403]).toContain(await scene.eyes.statusWith(ids.token));
  }

  async function expectNotRevoked(ids: Bound): Promise<void> {
    const answer = await scene.platform.unbind(ids);
    expect(answer.status).toBe(503);
    expectErrorBody(answer);
    expect((await scene.platform.getBinding(ids)).status).toBe(404);
  }

  describe('whose certificate is of another authority', () => {
    const becomeStranger = async (): Promise<void> => {
      await proxy.takeDown();
      await proxy.bringUp('stranger');
    };

    const becomeItself = async (): Promise<void> => {
      await proxy.takeDown();
      await proxy.bringUp();
    };

    beforeAll(newInstance);

    it('is told nothing: a bind is 502, a DELETE 503, and what lives is handed out', async () => {
      const ids = await live();
      const other = await live();
      const fresh = named('fresh');
      await becomeStranger();
      const heard = proxy.requests().length;

      expectRefused(await scene.platform.bind(fresh), NOT_TRUSTED);
      await expectNotRevoked(ids);
      expect((await scene.platform.getBinding(other)).body.credentials.token).toBe(other.token);

      expect(proxy.requests().length).toBe(heard);
      expect(await scene.objects(fresh.binding)).toEqual([]);
      await becomeItself();
      await expectRevocationWorks(ids);
      await expectRevocationWorks(other);
      await expectRepeatWorks(fresh);
    });

    it.each(BIND_CALLS)(
      'from %s of a bind on: nothing is left once it is itself',
      async (_, on) => {
        const ids = named('met');
        const met = proxy.misbehave({ on, act: { kind: 'hold-answer' } });
        const bound = scene.platform.bind(ids);
        await until({ what: 'the call is made', limitMs: 10_000, isSo: () => met.seen() === 1 });
        await becomeStranger();
        const answer = await bound;
        // What is cut may be worth a repeat; what comes after it is not trusted.
        expect(answer.status).toBeOneOf([502, 503]);
        expectErrorBody(answer);
        expect((await scene.platform.getBinding(ids)).status).toBe(404);
        proxy.behave();
        await becomeItself();
        await expectRepeatWorks(ids);
      },
    );

    it.each(UNBIND_CALLS)('from %s of an unbind on: 503 until it is itself', async (_, on) => {
      const ids = await live();
      const met = proxy.misbehave({ on, act: { kind: 'hold-answer' } });
      const unbound = scene.platform.unbind(ids);
      await until({ what: 'the call is made', limitMs: 10_000, isSo: () => met.seen() > 0 });
      await becomeStranger();
      const answer = await unbound;
      expect(answer.status).toBe(503);
      expectErrorBody(answer);
      proxy.behave();
      await becomeItself();
      await expectRevocationWorks(ids);
    });
  });

  describe('that does not accept the stored admin access any more', () => {
    beforeAll(newInstance);

    /** As an update of the instance would. */
    async function storeAccess(kubeconfig: string): Promise<void> {
      const [row] = await scene.ledger.sql<{ key: string }>(
        'select key from instances where id = $1',
        [instance],
      );
      const { sealer } = scene.broker.composition.broker;
      const key = row?.key ?? '';
      const access = new Secret(serializeAccess(readKubeconfig(kubeconfig)));
      const sealed = sealer.seal(access, accessPlace(key));
      await scene.ledger.sql('update instances set sealed_access = $2 where key = $1', [
        key,
        sealed,
      ]);
    }

    /** Everything is 401 from the first call on that fits. */
    function refuseFrom(on: RegExp): { readonly seen: () => number } {
      let hasBegun = false;
      return proxy.misbehave({
        on: { test: (line) => (hasBegun ||= on.test(line)) },
        act: { kind: 'answer', status: 401 },
      });
    }

    it('its account was deleted: nothing is told as done, and a new one is used by the next request', async () => {
      const token = await administratorToken(scene.cluster);
      const ofAccount = withToken(scene.cluster.adminKubeconfig, token);
      instance = await scene.attach({ kubeconfig: ofAccount });
      const ids = await live();
      const account = claimsOf(token).sub.split(':').at(-1) ?? '';
      await scene.eyes.call('DELETE', `/api/v1/namespaces/kube-system/serviceaccounts/${account}`);
      const isSo = async () => (await scene.eyes.statusWith(token)) === 401;
      await until({ what: 'the token is forgotten', limitMs: FORGOTTEN_LIMIT_MS, isSo });
      const fresh = named('fresh');
      expectRefused(await scene.platform.bind(fresh), NOT_ACCEPTED);
      await expectNotRevoked(ids);
      // Nobody may look whether the first try left something, so that a second one has to wait.
      const repeated = await scene.platform.bind(fresh);
      expect(repeated).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } });
      await expectNotRevoked(ids);
      expect(await scene.objects(fresh.binding)).toEqual([]);

      await storeAccess(scene.cluster.adminKubeconfig);

      await expectRevocationWorks(ids);
      await expectRepeatWorks(fresh);
    });

    it.each(BIND_CALLS)('from %s of a bind on, with a new one stored meanwhile', async (_, on) => {
      await storeAccess(proxy.adminKubeconfig);
      const ids = named('met');
      const refused = refuseFrom(on);
      const first = await scene.platform.bind(ids);
      expectRefused(first, NOT_ACCEPTED);
      expect(refused.seen()).toBeGreaterThan(0);
      expect((await scene.platform.getBinding(ids)).status).toBe(404);

      // What was made is still there where the undo was refused too; the old access stays refused.
      await storeAccess(scene.cluster.adminKubeconfig);

      await expectRepeatWorks(ids);
    });

    it.each(UNBIND_CALLS)(
      'from %s of an unbind on, with a new one stored meanwhile',
      async (_, on) => {
        await storeAccess(proxy.adminKubeconfig);
        const ids = await live();
        const refused = refuseFrom(on);
        await expectNotRevoked(ids);
        expect(refused.seen()).toBeGreaterThan(0);

        await storeAccess(scene.cluster.adminKubeconfig);

        await expectRevocationWorks(ids);
      },
    );
  });
});
