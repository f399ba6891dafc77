// What every test of Kyma plans starts from: a broker with a control plane, a maker of runtimes that moves when the
// test says so, runtimes that are sandbox clusters, and the broker's clock in the test's hand.
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
import { RuntimeMaker } from '../../support/control-plane/runtime-maker.ts';
import { freshDatabase, type FreshDatabase } from '../../support/database.ts';
import { recordSecret } from '../../support/leak-record.ts';
import { AWS_PLAN_ID, type Ids, type Platform } from '../../support/platform.ts';
import { startTestSandbox, type TestCluster, type TestSandbox } from '../../support/sandbox.ts';

interface SceneParts {
  readonly maker: RuntimeMaker;
  readonly eyes: PlaneEyes;
  /** In front of the control plane, for the broker alone. */
  readonly plane: ClusterProxy;
  readonly sandbox: TestSandbox;
  readonly database: FreshDatabase;
  /** How far the broker, and the clusters, are ahead of the machine. */
  readonly clock: { aheadMs: number; clustersAheadMs: number };
  /** What the broker draws next, before anything random. */
  readonly nextUuids: string[];
  /** Admin kubeconfigs that Secrets get, instead of the administrator's own. */
  readonly kubeconfigs: Map<string, string>;
  /** Each time another process on the same ledger. */
  readonly open: () => Promise<TestBroker>;
}

const KCP_FILE = 'kcp.kubeconfig';

/** Far more than any operation of a steady maker takes. */
const MAX_ROUNDS = 60;

const POLL_SECONDS = 10;

export class KymaScene {
  readonly parts: SceneParts;
  readonly maker: RuntimeMaker;
  readonly eyes: PlaneEyes;
  readonly plane: ClusterProxy;
  #broker: TestBroker;

  constructor(parts: SceneParts, broker: TestBroker) {
    this.parts = parts;
    this.maker = parts.maker;
    this.eyes = parts.eyes;
    this.plane = parts.plane;
    this.#broker = broker;
  }

  broker(): TestBroker {
    return this.#broker;
  }

  /** Whose requests name plan aws. */
  platform(): Platform {
    return this.#broker.platform.forPlan(AWS_PLAN_ID);
  }

  /** Requests a runtime. @returns its ids */
  async ordered(): Promise<{ readonly instance: string }> {
    const ids = { instance: randomUUID() };
    const answer = await this.platform().create(ids, { name: 'kyma' });
    if (answer.status !== 202) throw new Error(`not accepted: ${JSON.stringify(answer.body)}`);
    return ids;
  }

  /** As ordered, and ready. */
  async made(): Promise<{ readonly instance: string; readonly runtimeId: string }> {
    const ids = await this.ordered();
    const { state, description } = await this.ended(ids);
    if (state !== 'succeeded') throw new Error(`not made: ${String(description)}`);
    return { ...ids, runtimeId: (await this.runtimeOf(ids.instance))?.metadata.name ?? '' };
  }

  /** The Runtime of an instance. */
  async runtimeOf(instance: string): Promise<PlaneObject | undefined> {
    const runtimes = await this.eyes.list(PATHS.runtimes);
    return runtimes.find(
      ({ metadata }) => metadata.labels?.['kyma-project.io/instance-id'] === instance,
    );
  }

  /** Lets time pass for the broker, the maker do its part, and what is due run. */
  async pass(seconds = POLL_SECONDS): Promise<void> {
    this.parts.clock.aheadMs += seconds * 1000;
    await this.maker.round();
    await runDue(this.#broker);
  }

  /** Lets time pass until the latest operation has ended. @returns what is said of it then */
  async ended(ids: Ids): Promise<{ readonly state: unknown; readonly description: unknown }> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const { body } = await this.platform().lastOperation(ids);
      const { state, description } = body;
      if (state !== 'in progress') return { state, description };
      await this.pass();
    }
    throw new Error(`the operation of ${ids.instance} goes on and on`);
  }

  async restart(): Promise<void> {
    await this.#broker.stop();
    this.#broker = await this.parts.open();
  }

  async close(): Promise<void> {
    const { maker, eyes, plane, sandbox, database } = this.parts;
    await this.#broker.stop();
    await Promise.all([maker.close(), eyes.close(), plane.stop(), sandbox.stop()]);
    await database.drop();
  }
}

/** The cluster that a Runtime becomes. */
export function runtimeCluster(sandbox: TestSandbox, runtimeId: string): TestCluster {
  return sandbox.openCluster(`r-${runtimeId}`);
}

export async function openKymaScene(): Promise<KymaScene> {
  const clock = { aheadMs: 0, clustersAheadMs: 0 };
  const clustersNow = (): Date => new Date(Date.now() + clock.clustersAheadMs);
  const sandbox = await startTestSandbox({ clock: clustersNow });
  const cluster = sandbox.openCluster('plane');
  await makeControlPlane(cluster);
  const plane = await openClusterProxy(cluster);
  const database = await freshDatabase();
  const nextUuids: string[] = [];
  const kubeconfigs = new Map<string, string>();
  const maker = new RuntimeMaker({
    kubeconfig: cluster.adminKubeconfig,
    clusterFor: (id) => kubeconfigs.get(id) ?? runtimeCluster(sandbox, id).adminKubeconfig,
  });
  const eyes = openPlaneEyes(cluster.adminKubeconfig);
  const open = opener({
    database,
    kubeconfig: plane.adminKubeconfig,
    clock,
    clustersNow,
    nextUuids,
  });
  const parts = { maker, eyes, plane, sandbox, database, clock, nextUuids, kubeconfigs, open };
  return new KymaScene(parts, await open());
}

interface Opening {
  readonly database: FreshDatabase;
  readonly kubeconfig: string;
  readonly clock: { readonly aheadMs: number };
  readonly clustersNow: () => Date;
  readonly nextUuids: string[];
}

function opener({
  database,
  kubeconfig,
  clock,
  clustersNow,
  nextUuids,
}: Opening): () => Promise<TestBroker> {
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
        clusterClock: clustersNow,
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
