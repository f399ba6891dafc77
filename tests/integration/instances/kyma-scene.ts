// What every test of Kyma plans starts from: a broker with a control plane, an infrastructure manager that moves when
// the test says so, runtimes that are sandbox clusters, and the broker's clock in the test's hand.
import { randomBytes, randomUUID } from 'node:crypto';
import { randomDraw } from '../../../src/app/draw.ts';
import { runOperation } from '../../../src/background/operation-runner.ts';
import { listOpenOperations } from '../../../src/storage/operations.ts';
import { beat } from '../../../src/storage/replicas.ts';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import {
  makeControlPlane,
  openPlaneEyes,
  PATHS,
  type PlaneEyes,
  type PlaneObject,
} from '../../support/control-plane/control-plane.ts';
import { InfrastructureManager } from '../../support/control-plane/infrastructure-manager.ts';
import { type FreshDatabase, freshDatabaseOn } from '../../support/database.ts';
import { recordSecret } from '../../support/leak-record.ts';
import { AWS_PLAN_ID, type Ids, type Platform } from '../../support/platform.ts';
import { startTestSandbox, type TestCluster, type TestSandbox } from '../../support/sandbox.ts';

export interface KymaScene {
  broker(): TestBroker;
  /** Whose requests name plan aws. */
  platform(): Platform;
  readonly manager: InfrastructureManager;
  readonly eyes: PlaneEyes;
  /** In front of the control plane, for the broker alone. */
  readonly plane: ClusterProxy;
  readonly sandbox: TestSandbox;
  /** What the broker draws next, before anything random. */
  readonly nextUuids: string[];
  /** The cluster that a Runtime becomes. */
  runtimeCluster(runtimeId: string): TestCluster;
  /** Admin kubeconfig that its Secret gets, instead of the administrator's own. */
  readonly kubeconfigs: Map<string, string>;
  /** Requests a runtime with that name. @returns its ids */
  ordered(): Promise<{ readonly instance: string }>;
  /** As ordered, and ready. */
  made(): Promise<{ readonly instance: string; readonly runtimeId: string }>;
  /** The Runtime of an instance. */
  runtimeOf(instance: string): Promise<PlaneObject | undefined>;
  /** Lets time pass for the broker, the manager do its part, and what is due run. */
  pass(seconds?: number): Promise<void>;
  /** Lets time pass until the latest operation has ended. @returns what is said of it then */
  ended(ids: Ids): Promise<{ readonly state: unknown; readonly description: unknown }>;
  /** As a restart: another process on the same ledger. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const KCP_FILE = 'kcp.kubeconfig';

/** Far more than any operation of a steady manager takes. */
const MAX_ROUNDS = 60;

const POLL_SECONDS = 10;

export async function openKymaScene(): Promise<KymaScene> {
  const sandbox = await startTestSandbox();
  const planeCluster = sandbox.openCluster('plane');
  await makeControlPlane(planeCluster);
  const plane = await openClusterProxy(planeCluster);
  const eyes = openPlaneEyes(planeCluster.adminKubeconfig);
  const database = await freshDatabaseOn('postgres');
  const clock = { aheadMs: 0 };
  const nextUuids: string[] = [];
  const kubeconfigs = new Map<string, string>();
  const runtimeCluster = (id: string): TestCluster => sandbox.openCluster(`r-${id}`);
  const manager = new InfrastructureManager({
    kubeconfig: planeCluster.adminKubeconfig,
    clusterFor: (id) => kubeconfigs.get(id) ?? runtimeCluster(id).adminKubeconfig,
  });
  const open = opener({ database, kubeconfig: plane.adminKubeconfig, clock, nextUuids });
  let broker = await open();
  const platform = (): Platform => broker.platform.forPlan(AWS_PLAN_ID);
  const runtimeOf = async (instance: string): Promise<PlaneObject | undefined> => {
    const runtimes = await eyes.list(PATHS.runtimes);
    return runtimes.find(
      ({ metadata }) => metadata.labels?.['kyma-project.io/instance-id'] === instance,
    );
  };
  const scene: KymaScene = {
    broker: () => broker,
    platform,
    manager,
    eyes,
    plane,
    sandbox,
    nextUuids,
    runtimeCluster,
    kubeconfigs,
    async ordered() {
      const ids = { instance: randomUUID() };
      const answer = await platform().create(ids, { name: 'kyma' });
      if (answer.status !== 202) throw new Error(`not accepted: ${JSON.stringify(answer.body)}`);
      return ids;
    },
    async made() {
      const ids = await scene.ordered();
      const { state, description } = await scene.ended(ids);
      if (state !== 'succeeded') throw new Error(`not made: ${String(description)}`);
      return { ...ids, runtimeId: (await runtimeOf(ids.instance))?.metadata.name ?? '' };
    },
    runtimeOf,
    async pass(seconds = POLL_SECONDS) {
      clock.aheadMs += seconds * 1000;
      await manager.round();
      await runDue(broker);
    },
    async ended(ids) {
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        const { body } = await platform().lastOperation(ids);
        const { state, description } = body;
        if (state !== 'in progress') return { state, description };
        await scene.pass();
      }
      throw new Error(`the operation of ${ids.instance} goes on and on`);
    },
    async restart() {
      await broker.stop();
      broker = await open();
    },
    async close() {
      await broker.stop();
      await Promise.all([manager.close(), eyes.close(), plane.stop(), sandbox.stop()]);
      await database.drop();
    },
  };
  return scene;
}

interface Opening {
  readonly database: FreshDatabase;
  readonly kubeconfig: string;
  readonly clock: { readonly aheadMs: number };
  readonly nextUuids: string[];
}

function opener({ database, kubeconfig, clock, nextUuids }: Opening): () => Promise<TestBroker> {
  const key = randomBytes(32).toString('base64');
  recordSecret('sealing key', key);
  return () =>
    startBroker({
      databaseUrl: database.url,
      env: {
        RUNTIME_BROKER_KCP_KUBECONFIG: KCP_FILE,
        RUNTIME_BROKER_SEALING_KEYS: `scene:${key}`,
      },
      files: { [KCP_FILE]: kubeconfig },
      given: {
        clock: () => new Date(Date.now() + clock.aheadMs),
        clusterClock: () => new Date(),
        draw: { ...randomDraw, uuid: () => nextUuids.shift() ?? randomDraw.uuid() },
      },
    });
}

/** Without waiting for whoever would wake it; what somebody else runs already is left to them. */
async function runDue({ composition }: TestBroker): Promise<void> {
  const { broker, stopping } = composition;
  await beat(broker.db, { replicaId: broker.replicaId, at: broker.clock() });
  const due = await listOpenOperations(broker.db, { now: broker.clock(), limit: 100 });
  for (const { id } of due) await runOperation(broker, id, stopping.signal);
}
