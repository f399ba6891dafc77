// The namespace of bindings is deleted on the cluster after it was attached: a bind is 502 and leaves nothing, what was
// bound can be revoked, and once the namespace is there again everything goes on (docs/reliability.md, "The fault matrix
// of the cluster").
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/needs.ts';
import { kubectl } from '../../support/kubectl.ts';
import { expectErrorBody } from '../../integration/bindings/refusals.ts';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';

const MISSING = 'The cluster refused the request: the namespace of bindings is missing.';

describeWith({ postgres: true, cluster: true }, 'a namespace of bindings', () => {
  const namespace = newId('grants');
  let scene: Scene;
  let instance: string;

  beforeAll(async () => {
    const configFile = `plans: {own_cluster: {namespace: ${namespace}}}`;
    scene = await openScene({ configFile, reconciles: false });
    instance = await scene.attach();
  });

  afterAll(() => scene.close());

  const named = (word: string) => ({ instance, binding: newId(word) });

  /** From here on it is on its way out: nothing can be made in it, and what is in it is still there. */
  const beginDeletion = () => scene.eyes.call('DELETE', `/api/v1/namespaces/${namespace}`);

  /** What the controllers of a cluster do then, none of which runs here. */
  async function finishDeletion(): Promise<void> {
    const accounts = await scene.objects();
    for (const { kind, metadata } of accounts) {
      if (kind !== 'ServiceAccount') continue;
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${metadata.name}`;
      await scene.eyes.call('DELETE', path);
    }
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace }, spec: {} };
    const finalize = ['replace', '--raw', `/api/v1/namespaces/${namespace}/finalize`, '-f', '-'];
    const input = JSON.stringify(body);
    expect(await kubectl(scene.cluster.adminKubeconfig, finalize, { input })).toMatchObject({
      status: 0,
    });
    const gone = await kubectl(scene.cluster.adminKubeconfig, ['get', 'namespace', namespace]);
    expect(gone.stderr).toContain('NotFound');
  }

  async function expectNothingIssued(): Promise<void> {
    const ids = named('nowhere');
    const answer = await scene.platform.bind(ids);
    expect(answer).toMatchObject({ status: 502, body: { description: MISSING } });
    expectErrorBody(answer);
    expect(await scene.objects(ids.binding)).toEqual([]);
    expect((await scene.platform.getBinding(ids)).status).toBe(404);
    // Undone at once: the id and the slot are free.
    expect((await scene.platform.bindingOperation(ids)).body).toMatchObject({ state: 'failed' });
    expect((await scene.platform.unbind(ids)).status).toBe(410);
  }

  it('that is deleted after the attachment, and made again', async () => {
    const [early, late] = [named('early'), named('late')];
    const tokens = new Map<string, string>();
    for (const ids of [early, late]) {
      const { body } = await scene.platform.bind(ids);
      tokens.set(ids.binding, body.credentials.token);
    }
    const expectRevoked = async (ids: typeof early): Promise<void> => {
      expect((await scene.platform.unbind(ids)).status).toBe(200);
      expect(await scene.objects(ids.binding)).toEqual([]);
      expect([401, 403]).toContain(await scene.eyes.statusWith(tokens.get(ids.binding) ?? ''));
    };

    await beginDeletion();
    await expectNothingIssued();
    await expectRevoked(early);

    await finishDeletion();
    await expectNothingIssued();
    // Its account went with the namespace; its role and role binding are of the cluster, and are ours to remove.
    expect(await scene.objects(late.binding)).toHaveLength(2);
    await expectRevoked(late);

    await scene.eyes.call('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    const bound = await scene.platform.bind(late);
    expect(bound.status).toBe(201);
    expect(bound.headers.get('x-runtime-broker-bindings-remaining')).toBe('9');
    expect(await scene.objects(late.binding)).toHaveLength(3);
    expect(await scene.eyes.statusWith(bound.body.credentials.token)).toBe(200);
    expect((await scene.platform.unbind(late)).status).toBe(200);
    expect(await scene.objects()).toEqual([]);
  });
});
