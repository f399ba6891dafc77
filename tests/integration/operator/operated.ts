// What the tests of operators start from: a broker without reconcilers, so that what is stuck stays stuck, on the database
// that is named; a sandbox cluster behind a proxy that can be taken down; an operator.
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import type { Engine } from '../../support/engines-under-test.ts';
import type { Operator } from '../../support/operator.ts';
import { startTestSandbox } from '../../support/sandbox.ts';
import { newId, openScene, type Scene } from '../bindings/scene.ts';

export interface Operated {
  readonly scene: Scene;
  readonly operator: Operator;
  readonly proxy: ClusterProxy;
  /** An instance with as many live bindings. */
  bound(count: number): Promise<BoundInstance>;
  /** One binding of a new instance whose revocation has failed once, since the cluster went down. */
  stuck(): Promise<{ readonly instance: string; readonly binding: string }>;
  /** What operators are recorded to have done, oldest first. */
  events(instance?: string): Promise<readonly RecordedEvent[]>;
  close(): Promise<void>;
}

export interface BoundInstance {
  readonly instance: string;
  readonly bindings: readonly string[];
  readonly tokens: readonly string[];
}

export interface RecordedEvent {
  readonly type: string;
  readonly instance_id: string;
  readonly binding_id: string | null;
  readonly actor: string;
  readonly reason: string;
}

export async function openOperated(engine: Engine): Promise<Operated> {
  const sandbox = await startTestSandbox();
  const cluster = sandbox.openCluster('operated');
  const scene = await openScene({ engine, cluster, reconciles: false });
  const proxy = await openClusterProxy(cluster);
  const bound: Operated['bound'] = async (count) => {
    await proxy.bringUp();
    const instance = await scene.attach({
      instance: newId('i'),
      kubeconfig: proxy.adminKubeconfig,
    });
    const bindings = Array.from({ length: count }, () => newId('b'));
    const tokens: string[] = [];
    for (const binding of bindings) {
      const { status, body } = await scene.platform.bind({ instance, binding });
      if (status !== 201) throw new Error(`not bound: ${status}`);
      tokens.push(body.credentials.token);
    }
    return { instance, bindings, tokens };
  };
  return {
    scene,
    operator: scene.broker.operator,
    proxy,
    bound,
    async stuck() {
      const { instance, bindings } = await bound(1);
      const ids = { instance, binding: bindings[0] ?? '' };
      await proxy.takeDown();
      const { status } = await scene.platform.unbind(ids);
      if (status !== 503) throw new Error(`not stuck: ${status}`);
      return ids;
    },
    async events(instance) {
      return await scene.ledger.sql<RecordedEvent>(
        `select type, instance_id, binding_id, actor, reason from events
        where $1::text is null or instance_id = $1 order by number`,
        [instance ?? null],
      );
    },
    async close() {
      await scene.close();
      await proxy.stop();
      await sandbox.stop();
    },
  };
}
