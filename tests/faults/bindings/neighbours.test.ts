// Others on the same cluster: Kyma Environment Broker, and a second installation of ours. Whatever our sweeps do, what is
// theirs is not even written to.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expireBindings } from '../../../src/background/expire-bindings.ts';
import { finishRevocations } from '../../../src/background/finish-revocations.ts';
import { ClusterClient } from '../../../src/kubernetes/cluster-client.ts';
import { makeMark } from '../../../src/kubernetes/grant-mark.ts';
import { readKubeconfig } from '../../../src/kubernetes/read-kubeconfig.ts';
import { issueGrant } from '../../../src/kubernetes/token-request-issuer.ts';
import {
  newId,
  openScene,
  type Scene,
  untilOperationEnds,
} from '../../integration/bindings/scene.ts';
import { describeOnClusters } from '../../support/clusters-under-test.ts';
import { recordSecret } from '../../support/leak-record.ts';
import { plantGrant, type Sweeper, sweeperOf } from '../../support/orphan-sweep.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const GROUP = 'rbac.authorization.k8s.io';
const KEB_LABELS = { 'app.kubernetes.io/managed-by': 'kcp-kyma-environment-broker' };

describeOnClusters('neighbours', (open) => {
  let ours: Scene;
  let theirs: Scene;
  let client: ClusterClient;
  let sweeper: Sweeper;
  let instance: string;

  /** Path of each neighbour's object. */
  const neighbours: string[] = [];

  const pathsOf = (name: string): readonly string[] => [
    `/api/v1/namespaces/kyma-system/serviceaccounts/${name}`,
    `${RBAC}/clusterroles/${name}`,
    `${RBAC}/clusterrolebindings/${name}`,
  ];

  /** Uids and resource versions with all the rest. */
  const look = (): Promise<readonly unknown[]> =>
    Promise.all(neighbours.map((path) => ours.eyes.call('GET', path)));

  async function makeEnvironmentBrokersBinding(): Promise<void> {
    const name = `kyma-binding-${randomUUID()}`;
    const metadata = { name, labels: KEB_LABELS };
    const [account = '', role = '', roleBinding = ''] = pathsOf(name);
    const collectionOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
    const apiVersion = `${GROUP}/v1`;
    await ours.eyes.call('POST', collectionOf(account), {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata,
    });
    await ours.eyes.call('POST', collectionOf(role), {
      apiVersion,
      kind: 'ClusterRole',
      metadata,
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    });
    await ours.eyes.call('POST', collectionOf(roleBinding), {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'kyma-system' }],
    });
    neighbours.push(account, role, roleBinding);
  }

  /** What we could take for ours: their installation is given as ours, under their key. */
  async function makeImpostor(): Promise<void> {
    const { installation } = ours.broker.composition.broker.marker();
    const { key } = theirs.broker.composition.broker.marker();
    const name = `kyma-binding-${randomUUID()}`;
    const mark = makeMark({ key, installation }, { name, issuedAt: new Date(0) });
    const { token } = await issueGrant(client, {
      name,
      namespace: 'kyma-system',
      mark,
      installation,
      bindingId: 'impostor',
      instanceId: 'impostor',
      expirationSeconds: 600,
      clock: () => new Date(),
    });
    recordSecret('token of an impostor', token.reveal());
    neighbours.push(...pathsOf(name));
  }

  beforeAll(async () => {
    [ours, theirs] = await Promise.all([
      openScene({ engine: 'embedded', cluster: open() }),
      openScene({ engine: 'embedded', cluster: open() }),
    ]);
    client = new ClusterClient(readKubeconfig(open().adminKubeconfig));
    sweeper = sweeperOf(ours.broker.composition.broker, ours.ledger);
    instance = await ours.attach();
    const their = { instance: await theirs.attach(), binding: newId('theirs') };
    await theirs.platform.bind(their);
    const { broker } = theirs.broker.composition;
    await plantGrant(client, broker, { markedAt: new Date(Date.now() - 2 * DAY_MS) });
    for (const { metadata } of await theirs.objects()) neighbours.push(...pathsOf(metadata.name));
    await makeEnvironmentBrokersBinding();
    await makeImpostor();
  });

  afterAll(async () => {
    await Promise.all(neighbours.map((path) => ours.eyes.call('DELETE', path).catch(() => 0)));
    await client.close();
    await Promise.all([ours.close(), theirs.close()]);
  });

  it('are untouched by every sweep, and by the end of what we have beside them', async () => {
    const before = await look();
    const { signal } = new AbortController();
    await ours.platform.bind({ instance, binding: newId('expiring') });
    const orphan = { markedAt: new Date(sweeper.now().getTime() - 2 * DAY_MS) };
    await plantGrant(client, sweeper.broker, orphan);

    // A month later all that we have has expired.
    expect(await expireBindings(sweeper.broker)).toEqual({ expired: 1 });
    expect(await finishRevocations(sweeper.broker, { signal })).toMatchObject({ failed: 0 });
    const swept = await sweeper.sweep({ everyCluster: true });
    expect(swept).toMatchObject({ scanned: 1, orphans: 1, reported: 3, heldBack: 0 });
    expect(await look()).toEqual(before);

    await ours.platform.bind({ instance, binding: newId('ending') });
    await ours.platform.deprovision({ instance });
    await untilOperationEnds(ours.platform, { instance }, 'succeeded');
    const left = (await ours.objects()).map(({ metadata }) => metadata.name);
    expect(new Set(left).size).toBe(1);
    expect(await look()).toEqual(before);
  });

  it('are we as well: their sweep takes what is theirs, and touches nothing of ours', async () => {
    const ids = { instance: await ours.attach(), binding: newId('ours') };
    const bound = await ours.platform.bind(ids);
    const before = await ours.objects();
    const { broker } = theirs.broker.composition;
    const swept = await sweeperOf(broker, theirs.ledger).sweep({ everyCluster: true });
    expect(swept).toMatchObject({ scanned: 1, orphans: 1, reported: 0, heldBack: 0 });
    expect(await ours.objects()).toEqual(before);
    expect(await ours.eyes.statusWith(bound.body.credentials.token)).toBe(200);
    await ours.platform.unbind(ids);
  });
});
