// Does on a control plane what Kyma's infrastructure manager does with a Runtime, in its order, and what the lifecycle
// manager does with a Kyma: a round at a time, when a test says so, so that nothing is guessed about time.
import { hasReason } from '../../../src/kubernetes/failures.ts';
import {
  openPlaneEyes,
  NAMESPACE,
  PATHS,
  type PlaneEyes,
  type PlaneObject,
} from './control-plane.ts';

const RUNTIME_FINALIZER = 'runtime-controller.infrastructure-manager.kyma-project.io/deletion-hook';
const KYMA_FINALIZER = 'operator.kyma-project.io/Kyma';

/** Without each of which a Runtime is parked. */
const REQUIRED_LABELS = [
  'kyma-project.io/instance-id',
  'kyma-project.io/runtime-id',
  'kyma-project.io/region',
  'operator.kyma-project.io/kyma-name',
  'kyma-project.io/broker-plan-id',
  'kyma-project.io/broker-plan-name',
  'kyma-project.io/global-account-id',
  'kyma-project.io/subaccount-id',
];

/**
 * `steady`: a Runtime becomes ready within some rounds. `stuck`: it stays Pending. Any other word is written as its
 * state, in each round, and nothing else is done.
 */
export type Behaviour = 'steady' | 'stuck' | { readonly state: string };

export interface MakerOptions {
  /** Of an administrator of the control plane. */
  readonly kubeconfig: string;
  /** Admin kubeconfig of the cluster that a Runtime becomes; asked anew whenever its Secret is written. */
  readonly clusterFor: (runtimeId: string) => Promise<string> | string;
}

export class RuntimeMaker {
  /** What it has done, in order: `Runtime Pending`, `Secret deleted` … */
  readonly done: string[] = [];
  behaviour: Behaviour = 'steady';
  readonly #eyes: PlaneEyes;
  readonly #options: MakerOptions;

  constructor(options: MakerOptions) {
    this.#options = options;
    this.#eyes = openPlaneEyes(options.kubeconfig);
  }

  /** Moves each Runtime and each Kyma on by one. */
  async round(): Promise<void> {
    for (const kyma of await this.#eyes.list(PATHS.kymas)) await this.#moveKyma(kyma);
    for (const runtime of await this.#eyes.list(PATHS.runtimes)) await this.#moveRuntime(runtime);
  }

  /** As it does twice a day: another kubeconfig in the same Secret. */
  async rotate(runtimeId: string): Promise<void> {
    const data = await this.#secretData(runtimeId);
    await this.#eyes.patch(PATHS.secrets, secretName(runtimeId), { data });
    this.done.push('Secret rotated');
  }

  close(): Promise<void> {
    return this.#eyes.close();
  }

  async #moveKyma({ metadata }: PlaneObject): Promise<void> {
    const { name, finalizers = [], deletionTimestamp } = metadata;
    if (deletionTimestamp !== undefined) {
      this.done.push('Kyma deleted');
      await this.#eyes.patch(PATHS.kymas, name, { metadata: { finalizers: null } });
    } else if (!finalizers.includes(KYMA_FINALIZER)) {
      await this.#eyes.patch(PATHS.kymas, name, { metadata: { finalizers: [KYMA_FINALIZER] } });
      await this.#setState(PATHS.kymas, name, { state: 'Processing' });
    }
  }

  async #moveRuntime(runtime: PlaneObject): Promise<void> {
    const { name, finalizers = [], deletionTimestamp } = runtime.metadata;
    if (deletionTimestamp !== undefined) return await this.#removeNext(runtime);
    const isWhole = REQUIRED_LABELS.every(
      (label) => (runtime.metadata.labels?.[label] ?? '') !== '',
    );
    if (!isWhole) return await this.#setRuntimeState(name, 'Failed');
    if (!finalizers.includes(RUNTIME_FINALIZER)) {
      const patch = { metadata: { finalizers: [RUNTIME_FINALIZER] } };
      return await this.#eyes.patch(PATHS.runtimes, name, patch);
    }
    if (runtime.status?.state === undefined) return await this.#setRuntimeState(name, 'Pending');
    if (this.behaviour === 'stuck') return;
    if (this.behaviour !== 'steady') {
      return await this.#setRuntimeState(name, this.behaviour.state);
    }
    if (runtime.status.state !== 'Ready') await this.#makeNext(runtime);
  }

  /** Ready only once the kubeconfig and the namespace are there. */
  async #makeNext({ metadata }: PlaneObject): Promise<void> {
    const { name, labels = {} } = metadata;
    if ((await this.#eyes.find(PATHS.gardenerClusters, name)) === undefined) {
      const secret = { name: secretName(name), namespace: NAMESPACE, key: 'config' };
      await this.#eyes.create(PATHS.gardenerClusters, {
        apiVersion: 'infrastructuremanager.kyma-project.io/v1',
        kind: 'GardenerCluster',
        metadata: { name },
        spec: {
          kubeconfig: { secret },
          shoot: { name: labels['kyma-project.io/shoot-name'] ?? name },
        },
      });
    } else if ((await this.#eyes.find(PATHS.secrets, secretName(name))) === undefined) {
      await this.#makeSecret(name);
    } else if (!(await this.#hasNamespace(name))) {
      await this.#makeNamespace(name);
    } else {
      await this.#setRuntimeState(name, 'Ready');
    }
  }

  async #removeNext({ metadata: { name }, status }: PlaneObject): Promise<void> {
    if ((await this.#eyes.list(PATHS.kymas)).some(({ metadata }) => metadata.name === name)) {
      this.done.push('Runtime deleted before its Kyma');
    }
    if (status?.state !== 'Terminating') return await this.#setRuntimeState(name, 'Terminating');
    if ((await this.#eyes.find(PATHS.secrets, secretName(name))) !== undefined) {
      await this.#eyes.remove(PATHS.gardenerClusters, name);
      await this.#eyes.remove(PATHS.secrets, secretName(name));
      this.done.push('Secret deleted');
      return;
    }
    await this.#eyes.remove(PATHS.gardenerClusters, name);
    await this.#eyes.patch(PATHS.runtimes, name, { metadata: { finalizers: null } });
    this.done.push('Runtime deleted');
  }

  async #makeSecret(runtimeId: string): Promise<void> {
    await this.#eyes.create(PATHS.secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: secretName(runtimeId),
        labels: { 'operator.kyma-project.io/managed-by': 'infrastructure-manager' },
      },
      data: await this.#secretData(runtimeId),
    });
    this.done.push('Secret made');
  }

  async #secretData(runtimeId: string): Promise<{ readonly config: string }> {
    const kubeconfig = await this.#options.clusterFor(runtimeId);
    return { config: Buffer.from(kubeconfig).toString('base64') };
  }

  async #hasNamespace(runtimeId: string): Promise<boolean> {
    const found = await this.#onRuntime(runtimeId, (eyes) =>
      eyes.find('/api/v1/namespaces', 'kyma-system'),
    );
    return found !== undefined;
  }

  async #makeNamespace(runtimeId: string): Promise<void> {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kyma-system' } };
    await this.#onRuntime(runtimeId, (eyes) => eyes.create('/api/v1/namespaces', namespace)).catch(
      (error: unknown) => {
        // Somebody else was faster; the next round sees it.
        if (!hasReason(error, 'conflict')) throw error;
      },
    );
  }

  async #onRuntime<T>(runtimeId: string, act: (eyes: PlaneEyes) => Promise<T>): Promise<T> {
    const eyes = openPlaneEyes(await this.#options.clusterFor(runtimeId));
    try {
      return await act(eyes);
    } finally {
      await eyes.close();
    }
  }

  async #setRuntimeState(name: string, state: string): Promise<void> {
    const provisioningCompleted = state === 'Ready' ? { provisioningCompleted: true } : {};
    await this.#setState(PATHS.runtimes, name, { state, ...provisioningCompleted });
    if (this.done.at(-1) !== `Runtime ${state}`) this.done.push(`Runtime ${state}`);
  }

  #setState(path: string, name: string, status: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#eyes.patch(path, `${name}/status`, { status });
  }
}

function secretName(runtimeId: string): string {
  return `kubeconfig-${runtimeId}`;
}
