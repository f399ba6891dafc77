// A holder who does not want to lose the rights: he has all of them, and writes what he likes. After DELETE our three
// objects are gone, the token is refused and stays so, and what he left behind serves nobody (docs/reliability.md,
// "A hostile holder"). What a grant's removal does call by call is in revoke.test.ts.

import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, it } from 'vitest';

import { ClusterClient } from '../../src/kubernetes/cluster-client.ts';
import { readKubeconfig } from '../../src/kubernetes/read-kubeconfig.ts';
import { newId, openScene, type Scene } from '../integration/bindings/scene.ts';
import { describeOnClusters } from '../support/clusters-under-test.ts';
import type { BindingBody, OsbAnswer } from '../support/platform.ts';
import { until } from '../support/until.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ACCOUNTS = '/api/v1/namespaces/kyma-system/serviceaccounts';
const PATHS = [ACCOUNTS, `${RBAC}/clusterroles`, `${RBAC}/clusterrolebindings`] as const;
const KINDS = ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Status'];
const GROUP = 'rbac.authorization.k8s.io';

/** An API server caches an authentication for 10 s; one more round trip and a busy machine. */
const CACHE_OVER_MS = 12_000;

/** Longer than the cache: what has been refused for as long is refused for good. */
const WATCH_MS = 11_000;

describeOnClusters('a hostile holder', (open) => {
  let scene: Scene;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene({ engine: 'embedded', cluster: open() });
    instance = await scene.attach();
  });
  afterAll(() => scene.close());

  interface Held {
    readonly ids: { readonly instance: string; readonly binding: string };
    readonly name: string;
    readonly token: string;
    /** With the rights that the binding gave. */
    readonly call: (
      method: 'POST' | 'PATCH' | 'DELETE',
      path: string,
      body?: unknown,
    ) => Promise<unknown>;
  }

  const clients: ClusterClient[] = [];
  afterAll(() => Promise.all(clients.map((client) => client.close())));

  async function bind(binding: string, of = instance): Promise<Held> {
    const ids = { instance: of, binding };
    return held(ids, await scene.platform.bind(ids));
  }

  function held(ids: Held['ids'], { status, body }: OsbAnswer<BindingBody>): Held {
    if (status !== 201) throw new Error(`no binding to hold: ${status}`);
    const { token, kubeconfig } = body.credentials;
    const client = new ClusterClient(readKubeconfig(kubeconfig));
    clients.push(client);
    const [, payload = ''] = token.split('.');
    const { sub } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string };
    return {
      ids,
      name: sub.split(':').at(-1) ?? '',
      token,
      call: (method, path, content) =>
        client.request({
          method,
          path,
          body: content,
          action: 'resist',
          expect: KINDS,
        }),
    };
  }

  const roleBindingFor = (name: string, suffix = '') => ({
    apiVersion: `${GROUP}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `own-${name}${suffix}` },
    roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name, namespace: 'kyma-system' }],
  });

  const bindHimself = ({ call, name }: Held) =>
    call('POST', `${RBAC}/clusterrolebindings`, roleBindingFor(name));

  /** Finalizers on all three, and nothing left of our labels and annotations. */
  async function fortify({ call, name }: Held): Promise<void> {
    const metadata = { finalizers: ['holder.example/stay'], labels: null, annotations: null };
    for (const path of PATHS) {
      await call('PATCH', `${path}/${name}`, { metadata });
    }
  }

  async function left({ name }: Held): Promise<readonly string[]> {
    const found = await Promise.all(
      PATHS.map(async (path) => {
        const isThere = await scene.eyes.call('GET', `${path}/${name}`).then(
          () => true,
          () => false,
        );
        return isThere ? [path] : [];
      }),
    );
    return found.flat();
  }

  const isRefused = async ({ token }: Held): Promise<boolean> =>
    [401, 403].includes(await scene.eyes.statusWith(token));

  /** Asked again and again, since a cache that runs out, or fills, is what he hopes for. */
  async function stayRefused(all: readonly Held[]): Promise<boolean> {
    const end = performance.now() + WATCH_MS;
    while (performance.now() < end) {
      if ((await Promise.all(all.map(isRefused))).includes(false)) return false;
      await pause(500);
    }
    return true;
  }

  const dropOwn = ({ name }: Held) =>
    scene.eyes.call('DELETE', `${RBAC}/clusterrolebindings/own-${name}`).catch(() => undefined);

  it.concurrent('who stripped all labels and put finalizers everywhere is out at once, and stays out', async ({
    expect,
  }) => {
    const holder = await bind(newId('fortified'));
    await fortify(holder);
    expect((await scene.platform.unbind(holder.ids)).status).toBe(200);
    expect(await isRefused(holder)).toBe(true);
    expect(await left(holder)).toEqual([]);
    expect(await stayRefused([holder])).toBe(true);
  });

  it.concurrent('who bound his account’s name himself loses our objects at once, and all rights within 12 s', async ({
    expect,
  }) => {
    const holder = await bind(newId('self-bound'));
    await fortify(holder);
    await bindHimself(holder);
    const begun = performance.now();
    const unbinding = scene.platform.unbind(holder.ids);
    await until({
      what: 'our objects are gone, whatever his token may do yet',
      limitMs: 3_000,
      isSo: async () => (await left(holder)).length === 0,
    });
    expect((await unbinding).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(CACHE_OVER_MS + 1_000);
    expect(await isRefused(holder)).toBe(true);
    expect(await stayRefused([holder])).toBe(true);
    await dropOwn(holder);
  });

  it.concurrent('who made his account anew by hand keeps that, which is not ours, and nothing of the token', async ({
    expect,
  }) => {
    const holder = await bind(newId('anew'));
    await bindHimself(holder);
    const account = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: holder.name },
    };
    await holder.call('DELETE', `${ACCOUNTS}/${holder.name}`);
    const made = await scene.eyes.call('POST', ACCOUNTS, account);
    expect((await scene.platform.unbind(holder.ids)).status).toBe(200);
    expect(await isRefused(holder)).toBe(true);
    expect(await left(holder)).toEqual([ACCOUNTS]);
    expect(await scene.eyes.call('GET', `${ACCOUNTS}/${holder.name}`)).toEqual(made);
    expect(await stayRefused([holder])).toBe(true);
    await scene.eyes.call('DELETE', `${ACCOUNTS}/${holder.name}`);
    await dropOwn(holder);
  });

  it.concurrent('who had made the account anew after the end gets nothing for the old token either', async ({
    expect,
  }) => {
    const holder = await bind(newId('after'));
    await bindHimself(holder);
    expect((await scene.platform.unbind(holder.ids)).status).toBe(200);
    await scene.eyes.call('POST', ACCOUNTS, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: holder.name },
    });
    expect(await stayRefused([holder])).toBe(true);
    await scene.eyes.call('DELETE', `${ACCOUNTS}/${holder.name}`);
    await dropOwn(holder);
  });

  it.concurrent('KEB defect 45: gets nothing when his id is bound again, 20 times of 20', async ({
    expect,
  }) => {
    const [first, second] = await Promise.all([scene.attach(), scene.attach()]);
    const words = Array.from({ length: 20 }, (_, at) => `again-${at}`);
    const instanceOf = (at: number): string => (at % 2 === 0 ? first : second);
    const old = await Promise.all(words.map((word, at) => bind(newId(word), instanceOf(at))));
    // Half of them bind their name, so that their end takes as long as the cache lives.
    await Promise.all(old.filter((_, at) => at % 4 < 2).map(bindHimself));
    const fresh = await Promise.all(
      old.map(async ({ ids }) => {
        expect((await scene.platform.unbind(ids)).status).toBe(200);
        // At once, while the authentication of the old token may still be remembered.
        return bind(ids.binding, ids.instance);
      }),
    );
    expect(await stayRefused(old)).toBe(true);
    expect(await Promise.all(fresh.map(isRefused))).toEqual(fresh.map(() => false));
    const names = new Set([...old, ...fresh].map(({ name }) => name));
    expect(names.size).toBe(40);
    expect((await Promise.all(old.map(left))).flat()).toEqual([]);
    await Promise.all(fresh.map(({ ids }) => scene.platform.unbind(ids)));
    await Promise.all(old.map(dropOwn));
  }, 90_000);
});
