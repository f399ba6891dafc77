// The embedded default, killed in the middle of its work: what was answered is still so after the next start, and what
// was under way is finished or undone.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type BrokerProcess, startEmbeddedProcess } from '../../support/broker-process.ts';
import { type SharedCluster, sharedCluster } from '../../support/cluster.ts';
import { openClusterEyes, type ClusterEyes } from '../../support/cluster-administrator.ts';
import { type FreshDataFolder, freshDataFolder } from '../../support/database.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';

/** A step's lease of a killed process is free at the next start; the rest is for a busy machine. */
const READY_LIMIT_MS = 60_000;

/** Each test starts a process with a database inside, which a busy machine may need ten seconds for. */
const TEST_LIMIT_MS = 120_000;

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

describeWith({ cluster: true }, 'a broker on the embedded database that is killed', () => {
  let cluster: SharedCluster;
  let eyes: ClusterEyes;
  let folder: FreshDataFolder;
  let broker: BrokerProcess;

  beforeAll(async () => {
    cluster = sharedCluster();
    eyes = openClusterEyes(cluster.adminKubeconfig);
    folder = freshDataFolder();
    broker = await startEmbeddedProcess(folder.path);
  });
  afterAll(async () => {
    await broker.end('SIGTERM');
    await eyes.close();
    folder.remove();
  });

  async function killAndStart(): Promise<void> {
    await broker.end('SIGKILL');
    broker = await startEmbeddedProcess(folder.path);
  }

  async function untilReady(instance: string): Promise<void> {
    await until({
      what: 'the instance is ready',
      limitMs: READY_LIMIT_MS,
      isSo: async () =>
        (await broker.platform.lastOperation({ instance })).body['state'] === 'succeeded',
    });
  }

  it('goes on with the provisioning that it had accepted', async () => {
    const instance = randomUUID();
    const accepted = await broker.platform.provision({ instance }, cluster.adminKubeconfig, {});
    expect(accepted.status).toBe(202);

    await killAndStart();

    await untilReady(instance);
  });

  it('hands out the same binding again, and revokes it', async () => {
    const ids = { instance: randomUUID(), binding: randomUUID() };
    await broker.platform.provision(ids, cluster.adminKubeconfig, {});
    await untilReady(ids.instance);
    const bound = await broker.platform.bind(ids);
    expect(bound.status).toBe(201);

    await killAndStart();

    const fetched = await broker.platform.getBinding(ids);
    expect(fetched.status).toBe(200);
    expect(fetched.body.credentials).toEqual(bound.body.credentials);
    expect((await broker.platform.unbind(ids)).status).toBe(200);
    expect((await broker.platform.getBinding(ids)).status).toBe(404);
  });

  it('leaves of binds under way either a binding or nothing, and each can be asked for again', async () => {
    const instance = randomUUID();
    await broker.platform.provision({ instance }, cluster.adminKubeconfig, {});
    await untilReady(instance);
    const bindings = Array.from({ length: 5 }, () => ({ instance, binding: randomUUID() }));
    const answers = bindings.map(async (ids) => {
      try {
        return (await broker.platform.bind(ids)).status;
      } catch {
        return 'cut off';
      }
    });
    await Promise.race(answers);

    await killAndStart();

    const answered = await Promise.all(answers);
    const found = await Promise.all(bindings.map((ids) => broker.platform.getBinding(ids)));
    expect(answered).toContain(201);
    const lost = answered.filter((status, at) => status === 201 && found[at]?.status !== 200);
    expect(lost).toEqual([]);
    for (const ids of bindings) {
      expect([200, 201]).toContain((await broker.platform.bind(ids)).status);
    }
    for (const ids of bindings) {
      expect((await broker.platform.unbind(ids)).status).toBe(200);
    }
    const installation = /"installation":"([0-9a-f-]{36})"/.exec(broker.output())?.[1] ?? '';
    const left = await eyes.objectsOf(installation);
    expect(
      left.filter(({ metadata }) =>
        bindings.some(
          ({ binding }) => metadata.annotations?.['runtime-broker/binding-id'] === binding,
        ),
      ),
    ).toEqual([]);
  });
});
