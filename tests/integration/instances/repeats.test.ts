// What makes a repeat the same request, what is shown of it again, and which ids and operations a platform may get
// wrong (OSB 2.17, Provisioning and Fetching; C69 to C71, C83, C109, C116).
import { parse, stringify } from 'yaml';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { type SharedCluster, sharedCluster } from '../../support/cluster.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { aroundLedger, type LedgerEyes, openLedgerEyes } from '../../support/ledger-dump.ts';
import { describeWith } from '../../support/needs.ts';
import { OWN_CLUSTER_PLAN_ID, SERVICE_ID } from '../../support/platform.ts';
import {
  changedKubeconfig,
  drawToken,
  type KubeconfigContent,
  withToken,
} from './attached-cluster.ts';
import { bringInto } from './instance-states.ts';
import { operationEnded } from './waits.ts';

describeWith({ postgres: true, cluster: true }, 'an instance', () => {
  let database: FreshDatabase;
  let cluster: SharedCluster;
  let broker: TestBroker;
  let ledger: LedgerEyes;
  /** Well-behaved: it is here for an access that has a token. */
  let proxy: ClusterProxy;

  beforeAll(async () => {
    cluster = sharedCluster();
    proxy = await openClusterProxy(cluster);
    database = await freshDatabase();
    broker = await startBroker({ databaseUrl: database.url });
    ledger = openLedgerEyes(database.url);
  });

  afterAll(async () => {
    await broker.stop();
    await proxy.stop();
    await ledger.close();
    await database.drop();
  });

  async function ready(
    kubeconfig: string,
    parameters: Readonly<Record<string, unknown>> = {},
  ): Promise<{ readonly instance: string }> {
    const ids = { instance: randomUUID() };
    expect((await broker.platform.provision(ids, kubeconfig, parameters)).status).toBe(202);
    expect(await operationEnded(broker.platform, ids)).toBe('succeeded');
    return ids;
  }

  describe('provisioned again', () => {
    it('is the same when its kubeconfig says the same in other words', async () => {
      const { platform } = broker;
      const ids = await ready(cluster.adminKubeconfig, { name: 'same', region: 'eu' });
      const asJson = JSON.stringify(parse(cluster.adminKubeconfig));

      for (const words of [inOtherWords(cluster.adminKubeconfig), asJson]) {
        expect(words).not.toBe(cluster.adminKubeconfig);
        const parameters = { region: 'eu', name: 'same' };
        expect((await platform.provision(ids, words, parameters)).status).toBe(200);
      }
    });

    it('C71: is the same when organisation, space and context have changed', async () => {
      const ids = await ready(cluster.adminKubeconfig);
      const renamed = await broker.platform.call({
        method: 'PUT',
        path: `/service_instances/${ids.instance}?accepts_incomplete=true`,
        body: {
          service_id: SERVICE_ID,
          plan_id: OWN_CLUSTER_PLAN_ID,
          organization_guid: 'another organization',
          space_guid: 'another space',
          context: { platform: 'cloudfoundry', organization_name: 'renamed' },
          parameters: { kubeconfig: cluster.adminKubeconfig },
        },
      });
      expect(renamed.status).toBe(200);
    });

    it.each<[string, (kubeconfig: string) => string, Readonly<Record<string, unknown>>]>([
      ['another token', (text) => withToken(text, drawToken()), {}],
      ['another server', (text) => withServer(text, 'https://127.0.0.1:1'), {}],
      ['another name for TLS', (text) => withTlsName(text, 'localhost'), {}],
      ['a name', (text) => text, { name: 'named' }],
      ['a region', (text) => text, { region: 'us' }],
    ])('is another with %s: 409, and nothing of it changes', async (_, change, parameters) => {
      const ids = await ready(proxy.adminKubeconfig);
      const other = () => broker.platform.provision(ids, change(proxy.adminKubeconfig), parameters);

      const { answer, before, after } = await aroundLedger(ledger, other);
      expect(answer.status).toBe(409);
      expect(after).toEqual(before);
    });
  });

  describe('fetched', () => {
    it('C83: KEB defect 41: shows its parameters without the kubeconfig, and no part of it', async () => {
      const ids = await ready(proxy.adminKubeconfig, { name: 'shown', region: 'eu' });
      const { status, body } = await broker.platform.getInstance(ids);
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          service_id: '47c9dcbf-ff30-448e-ab36-d3bad66ba281',
          plan_id: '03e3cb66-a4c6-4c6a-b4b0-5d42224debea',
          parameters: { name: 'shown', region: 'eu' },
        },
      });
    });

    it('C86: takes wrong or missing service_id and plan_id for the hints that they are', async () => {
      const ids = await ready(cluster.adminKubeconfig);
      const answer = await broker.platform.call({
        method: 'GET',
        path: `/service_instances/${ids.instance}?service_id=other&plan_id=`,
      });
      expect(answer.status).toBe(200);
    });

    it('is kept in the database without the kubeconfig in clear', async () => {
      const ids = await ready(cluster.adminKubeconfig);
      const [row] = await ledger.sql<{ row: string; parameters: unknown }>(
        'select i::text as row, parameters from instances i where id = $1',
        [ids.instance],
      );
      expect(row?.parameters).toEqual({});
      const { users } = parse(cluster.adminKubeconfig) as KubeconfigContent;
      expect(row?.row).not.toContain(String(users[0]?.user['client-key-data']));
    });
  });

  describe('C109: deleted under ids that are not its own', () => {
    it('is refused with 400 for another service', async () => {
      const ids = await ready(cluster.adminKubeconfig);
      const refused = await broker.platform.call({
        method: 'DELETE',
        path: `/service_instances/${ids.instance}?accepts_incomplete=true&service_id=other&plan_id=${OWN_CLUSTER_PLAN_ID}`,
      });
      expect(refused.status).toBe(400);
      expect((await broker.platform.getInstance(ids)).status).toBe(200);
    });

    it('is accepted for another plan, with a line in the log', async () => {
      const ids = await ready(cluster.adminKubeconfig);
      const accepted = await broker.platform.call({
        method: 'DELETE',
        path: `/service_instances/${ids.instance}?accepts_incomplete=true&service_id=${SERVICE_ID}&plan_id=moved`,
      });
      expect(accepted.status).toBe(202);
      expect(await operationEnded(broker.platform, ids)).toBe('succeeded');
      expect(broker.log()).toContainEqual(
        expect.objectContaining({
          instanceId: ids.instance,
          msg: 'the platform names another plan than the instance has',
        }),
      );
    });
  });

  describe('asked how its operation goes', () => {
    it('C116: answers for the operation that is named, and for the latest where the name says nothing', async () => {
      const { platform } = broker;
      const failed = await bringInto('create failed', { platform, cluster });
      const { instance } = failed;
      const [first] = await ledger.sql<{ id: string }>(
        'select o.id from operations o join instances i on i.key = o.instance_key where i.id = $1',
        [instance],
      );
      await platform.deprovision({ instance });
      expect(await operationEnded(platform, { instance })).toBe('succeeded');

      const stateOf = async (operation?: string) =>
        (await platform.lastOperation({ instance }, operation)).body['state'];
      expect(await stateOf(first?.id)).toBe('failed');
      expect(await stateOf()).toBe('succeeded');
      expect(await stateOf('provision')).toBe('succeeded');
      expect(await stateOf('')).toBe('succeeded');
      expect(await stateOf('x'.repeat(10_000))).toBe('succeeded');
    });

    it('does not answer for the operation of another instance', async () => {
      const { platform } = broker;
      const other = await bringInto('provisioning', { platform, cluster });
      try {
        const ids = await ready(cluster.adminKubeconfig);
        const answer = await platform.lastOperation(ids, other.operation);
        expect(answer.body['state']).toBe('succeeded');
      } finally {
        await other.release();
      }
    });

    it('describes an end in a sentence', async () => {
      const ids = await ready(cluster.adminKubeconfig);
      expect((await broker.platform.lastOperation(ids)).body).toEqual({
        state: 'succeeded',
        description: 'The runtime is ready.',
      });
    });
  });
});

function withServer(kubeconfig: string, server: string): string {
  return changedKubeconfig(kubeconfig, ({ cluster }) => {
    cluster['server'] = server;
  });
}

function withTlsName(kubeconfig: string, name: string): string {
  return changedKubeconfig(kubeconfig, ({ cluster }) => {
    cluster['tls-server-name'] = name;
  });
}

/** Other order, other names, other style, a comment, entries that nobody refers to, fields that are ignored. */
function inOtherWords(kubeconfig: string): string {
  const { clusters, users } = parse(kubeconfig) as KubeconfigContent;
  const text = stringify(
    {
      users: [
        { user: { token: drawToken() }, name: 'unused' },
        { user: reversed(users[0]?.user ?? {}), name: 'renamed-user' },
      ],
      preferences: { colors: true },
      'current-context': 'renamed',
      contexts: [
        { context: { user: 'renamed-user', namespace: 'mine', cluster: 'c' }, name: 'renamed' },
      ],
      clusters: [
        { name: 'unused', cluster: { server: 'https://unused.example' } },
        { cluster: { ...reversed(clusters[0]?.cluster ?? {}), extensions: [] }, name: 'c' },
      ],
      kind: 'Config',
      apiVersion: 'v1',
    },
    { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE' },
  );
  return `# the same\n---\n${text}`;
}

function reversed(map: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map).toReversed());
}
