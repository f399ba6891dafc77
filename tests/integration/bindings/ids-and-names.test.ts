// Ids of bindings that no cluster would take as names, names of instances that YAML would misread, and names that are
// never used twice. The kubeconfigs are used by stock kubectl.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { kubectl } from '../../support/kubectl.ts';
import { describeWith } from '../../support/needs.ts';
import { openScene, parseKubeconfig, type Scene } from './scene.ts';

const GRANT_NAME = /^kyma-binding-(sha256-[0-9a-f]{32}|[a-z0-9-]+)-[a-z0-9]{10}$/;

describeWith({ postgres: true, cluster: true, kubectl: true }, 'ids and names', () => {
  let scene: Scene;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene();
    instance = await scene.attach();
  });

  afterAll(() => scene.close());

  it.each([
    'UPPER-Case',
    'under_score~tilde',
    'with space',
    'a/b',
    '../../etc',
    'ünï-码',
    'dotted.id.',
    '-',
    'x'.repeat(255),
    `sha256-${'0'.repeat(32)}`,
  ])('KEB defect 13: binding id %j is bound, fetched and deleted', async (binding) => {
    const ids = { instance, binding };
    const bound = await scene.platform.bind(ids);
    expect(bound.status).toBe(201);
    expect((await scene.platform.getBinding(ids)).body.credentials).toEqual(bound.body.credentials);
    const objects = await scene.objects(binding);
    expect(objects.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
      ['ServiceAccount', 'kyma-system'],
      ['ClusterRole', undefined],
      ['ClusterRoleBinding', undefined],
    ]);
    for (const { metadata } of objects) {
      expect(metadata.name).toMatch(GRANT_NAME);
      expect(metadata.annotations?.['runtime-broker/instance-id']).toBe(instance);
    }
    expect((await scene.platform.unbind(ids)).status).toBe(200);
    expect(await scene.objects(binding)).toEqual([]);
  });

  it('names the objects after the binding where its id fits', async () => {
    await scene.platform.bind({ instance, binding: 'fits-1' });
    const names = new Set((await scene.objects('fits-1')).map(({ metadata }) => metadata.name));
    expect(names.size).toBe(1);
    expect([...names][0]).toMatch(/^kyma-binding-fits-1-[a-z0-9]{10}$/);
    await scene.platform.unbind({ instance, binding: 'fits-1' });
  });

  it('KEB defect 14: one binding id in two instances on one cluster is two bindings', async () => {
    const other = await scene.attach();
    const first = await scene.platform.bind({ instance, binding: 'shared' });
    const second = await scene.platform.bind({ instance: other, binding: 'shared' });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(await scene.objects('shared')).toHaveLength(6);

    expect((await scene.platform.unbind({ instance, binding: 'shared' })).status).toBe(200);

    expect(await scene.objects('shared')).toHaveLength(3);
    expect(await scene.eyes.statusWith(first.body.credentials.token)).not.toBe(200);
    expect(await scene.eyes.statusWith(second.body.credentials.token)).toBe(200);
    await scene.platform.unbind({ instance: other, binding: 'shared' });
  });

  it('KEB defect 45: a revoked token stays dead when its binding id is bound again at once', async () => {
    const ids = { instance, binding: 'again' };
    const first = await scene.platform.bind(ids);
    // What a holder may have made in order to keep his rights: it names an account that never comes back.
    const [account] = await scene.objects('again');
    const roleBinding = `holders-${account?.metadata.name}`;
    await scene.eyes.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: roleBinding },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [
        { kind: 'ServiceAccount', name: account?.metadata.name, namespace: 'kyma-system' },
      ],
    });
    await scene.platform.unbind(ids);
    const second = await scene.platform.bind(ids);

    expect(second.status).toBe(201);
    expect(second.body.credentials.token).not.toBe(first.body.credentials.token);
    expect(await scene.eyes.statusWith(second.body.credentials.token)).toBe(200);
    expect([401, 403]).toContain(await scene.eyes.statusWith(first.body.credentials.token));
    await scene.platform.unbind(ids);
    await scene.eyes.call(
      'DELETE',
      `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${roleBinding}`,
    );
  });

  it.each(['123', 'true', 'null', '1e5', '-', '0x1f', 'on', 'No'])(
    'KEB defect 18: the kubeconfig of an instance named %s works with kubectl',
    async (name) => {
      const ids = { instance: await scene.attach({ parameters: { name } }), binding: 'b' };
      const { kubeconfig } = (await scene.platform.bind(ids)).body.credentials;

      expect(parseKubeconfig(kubeconfig)['current-context']).toBe(name);
      const asked = await kubectl(kubeconfig, ['get', 'namespace', 'kube-system', '--output=name']);
      expect(asked).toMatchObject({ status: 0, stdout: 'namespace/kube-system\n' });
    },
  );

  it('KEB defect 20: the holder reads non-resource URLs too', async () => {
    const ids = { instance, binding: 'metrics' };
    const { kubeconfig } = (await scene.platform.bind(ids)).body.credentials;
    const metrics = await kubectl(kubeconfig, ['get', '--raw', '/metrics']);
    expect(metrics.status).toBe(0);
    expect(metrics.stdout).toContain('apiserver_request_total');
    await scene.platform.unbind(ids);
  });
});
