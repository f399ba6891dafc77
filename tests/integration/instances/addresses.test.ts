// Addresses of own clusters that are refused (docs/configuration.md, "Addresses of own clusters"): what a PUT can see
// is 400 and leaves no record, where a name leads is seen when it is connected to and ends the operation. Neither answer
// shows an address.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { sharedCluster, type SharedCluster } from '../../support/cluster.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { aroundLedger, type LedgerEyes, openLedgerEyes } from '../../support/ledger-dump.ts';
import { describeWith } from '../../support/needs.ts';
import { untilOperationEnds } from '../bindings/scene.ts';
import { changedKubeconfig, drawSealingKeys } from './attached-cluster.ts';

/** The real API server is on loopback, as the public listener is; by its name it is refused. */
const CONFIG = `
clusterAddresses:
  allow: [169.254.77.0/24]
  deny: [10.66.0.0/16, denied.example.org]
`;

const LOOPBACK_DENIED = 'clusterAddresses: {deny: [127.0.0.0/8, ::1]}';

describeWith({ postgres: true, cluster: true }, 'the address of an own cluster', () => {
  const env = { RUNTIME_BROKER_SEALING_KEYS: drawSealingKeys() };
  let database: FreshDatabase;
  let cluster: SharedCluster;
  let broker: TestBroker;
  let ledger: LedgerEyes;

  beforeAll(async () => {
    cluster = sharedCluster();
    database = await freshDatabase();
    broker = await startBroker({ databaseUrl: database.url, env, configFile: CONFIG });
    ledger = openLedgerEyes(database.url);
  });
  afterAll(async () => {
    await broker.stop();
    await ledger.close();
    await database.drop();
  });

  function at(server: string): string {
    return changedKubeconfig(cluster.adminKubeconfig, (parts) => {
      parts.cluster['server'] = server;
    });
  }

  it.each([
    ['https://169.254.169.254', "it is the address of a cloud's metadata service"],
    ['https://0xa9fea9fe', "it is the address of a cloud's metadata service"],
    ['https://[::ffff:169.254.169.254]', "it is the address of a cloud's metadata service"],
    ['https://[64:ff9b::a9fe:a9fe]', "it is the address of a cloud's metadata service"],
    ['https://169.254.1.1:6443', 'it is a link-local address'],
    ['https://0.0.0.0:6443', 'it is an unspecified address'],
    ['https://239.1.1.1', 'it is a multicast or reserved address'],
    ['https://10.66.1.2:6443', 'the configuration of the broker denies it'],
    ['https://denied.example.org', 'the configuration of the broker denies it'],
  ])('%s is refused at PUT', async (server, cause) => {
    const { answer, before, after } = await aroundLedger(ledger, () =>
      broker.platform.provision({ instance: randomUUID() }, at(server)),
    );

    expect(answer).toMatchObject({
      status: 400,
      body: { description: `The address of the cluster is refused: ${cause}.` },
    });
    expect(after).toEqual(before);
  });

  it('is refused where the broker itself listens, and where its database does', async () => {
    const { hostname, port } = new URL(database.url);
    const own = [broker.publicUrl, broker.operatorUrl, `http://${hostname}:${port}`];

    for (const url of own) {
      const server = url.replace('http:', 'https:');
      const answer = await broker.platform.provision({ instance: randomUUID() }, at(server));
      expect(answer).toMatchObject({
        status: 400,
        body: {
          description: 'The address of the cluster is refused: it belongs to the broker itself.',
        },
      });
    }
  });

  it('that the configuration allows is accepted', async () => {
    const ids = { instance: randomUUID() };

    const answer = await broker.platform.provision(ids, at('https://169.254.77.1:6443'));

    expect(answer.status).toBe(202);
    await broker.platform.deprovision(ids);
  });

  it('is judged where its name leads, and the operation says why it has failed', async () => {
    const other = await freshDatabase();
    const strict = await startBroker({ databaseUrl: other.url, configFile: LOOPBACK_DENIED });
    const ids = { instance: randomUUID() };
    const server = new URL(cluster.server);
    server.hostname = 'localhost';

    const accepted = await strict.platform.provision(ids, at(server.href));

    expect(accepted.status).toBe(202);
    await untilOperationEnds(strict.platform, ids, 'failed');
    expect((await strict.platform.lastOperation(ids)).body).toMatchObject({
      state: 'failed',
      description:
        'The address of the cluster is refused: the configuration of the broker denies it.',
    });
    await strict.stop();
    await other.drop();
  });

  it('that was accepted before a rule came stays a repeat, but is not called any more', async () => {
    const ids = { instance: randomUUID(), binding: randomUUID() };
    await broker.platform.provision(ids, cluster.adminKubeconfig);
    await untilOperationEnds(broker.platform, ids, 'succeeded');

    const strict = await startBroker({
      databaseUrl: database.url,
      env,
      configFile: LOOPBACK_DENIED,
    });

    expect((await strict.platform.provision(ids, cluster.adminKubeconfig)).status).toBe(200);
    expect(await strict.platform.bind(ids)).toMatchObject({
      status: 502,
      body: {
        description:
          'The cluster refused the request: it is at an address that the broker may not call.',
      },
    });
    await strict.stop();
  });
});
