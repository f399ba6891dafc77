// What carries our labels, as a cluster lists it, and its removal: whoever put finalizers on it.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { type ListedObject, listOwnedPage } from '../../src/kubernetes/list-owned.ts';
import { ensureNamespace } from '../../src/kubernetes/namespace.ts';
import { type GrantObjectKind, placeOfObject } from '../../src/kubernetes/owned-object.ts';
import { removeObjects } from '../../src/kubernetes/removal.ts';
import { describeOnClusters } from '../support/clusters-under-test.ts';
import { GRANTS_NAMESPACE, type Grants, grantsOn } from '../support/grants.ts';

const KINDS: readonly GrantObjectKind[] = ['ClusterRoleBinding', 'ServiceAccount', 'ClusterRole'];

describeOnClusters('objects with our labels', (open) => {
  let grants: Grants;

  beforeAll(async () => {
    grants = grantsOn(open().adminKubeconfig);
    await ensureNamespace(grants.client, GRANTS_NAMESPACE);
  });
  afterAll(() => grants.close());

  const page = (kind: GrantObjectKind, installation: string, more: object = {}) =>
    listOwnedPage(
      { client: grants.client },
      { kind, installation, namespace: GRANTS_NAMESPACE, limit: 250, ...more },
    );

  async function allOf(installation: string): Promise<readonly ListedObject[]> {
    const pages = await Promise.all(KINDS.map((kind) => page(kind, installation)));
    return pages.flatMap(({ objects }) => objects);
  }

  const owned = (object: ListedObject) => {
    const { kind, name, namespace = '', uid } = object;
    const place =
      kind === 'ServiceAccount'
        ? placeOfObject({ kind, name, namespace })
        : placeOfObject({ kind, name });
    return { ...place, uid };
  };

  it('are listed by installation, with what identifies them', async () => {
    const installation = randomUUID();
    const { order, issued } = await grants.issue({ installation });
    await grants.issue({ installation: randomUUID() });
    const { name, namespace, mark } = order;
    const { account, role, roleBinding } = issued.uids;
    const listed = await allOf(installation);
    expect(
      listed.map(({ annotations, ...rest }) => [rest, annotations['runtime-broker/mark']]),
    ).toEqual([
      [{ kind: 'ClusterRoleBinding', name, namespace: undefined, uid: roleBinding }, mark],
      [{ kind: 'ServiceAccount', name, namespace, uid: account }, mark],
      [{ kind: 'ClusterRole', name, namespace: undefined, uid: role }, mark],
    ]);
  });

  it('come in pages, each as long as it was ordered, in an order that goes on', async () => {
    const installation = randomUUID();
    const issued = await Promise.all(
      Array.from({ length: 5 }, () => grants.issue({ installation })),
    );
    const names: string[] = [];
    const lengths: number[] = [];
    let after: string | undefined;
    do {
      const { objects, next } = await page('ClusterRole', installation, { limit: 2, after });
      names.push(...objects.map(({ name }) => name));
      lengths.push(objects.length);
      after = next;
    } while (after !== undefined);
    expect(lengths).toEqual([2, 2, 1]);
    expect(names.toSorted()).toEqual(issued.map(({ order }) => order.name).toSorted());
  });

  it('are listed anew where the continuation is none', async () => {
    const installation = randomUUID();
    await grants.issue({ installation });
    const { objects } = await page('ServiceAccount', installation, { after: 'bm9uZQ' });
    expect(objects).toHaveLength(1);
  });

  it('are gone after their removal, whoever put finalizers on them, and under their uid alone', async () => {
    const installation = randomUUID();
    const { order, issued } = await grants.issue({ installation });
    const listed = await allOf(installation);
    for (const object of listed) {
      await grants.client.request({
        method: 'PATCH',
        path: owned(object).path,
        body: { metadata: { finalizers: ['example.com/mine'] } },
        action: 'resist',
        expect: KINDS,
      });
    }
    const others = listed.map((object) => ({ ...owned(object), uid: randomUUID() }));
    const untouched = await removeObjects({ client: grants.client }, others);
    const { account, role, roleBinding } = issued.uids;
    expect(new Set(untouched.map(({ uid }) => uid))).toEqual(new Set([account, role, roleBinding]));
    expect(await allOf(installation)).toHaveLength(3);
    expect(await removeObjects({ client: grants.client }, listed.map(owned))).toEqual([]);
    expect(await allOf(installation)).toEqual([]);
    const path = '/api/v1/namespaces/kube-system/secrets?limit=1';
    const status = await grants.client.statusWith(issued.token, { path, action: order.name });
    expect([401, 403]).toContain(status);
  });
});
