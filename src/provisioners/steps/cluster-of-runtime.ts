// How the steps of a provisioning reach the cluster of its runtime.
import type { ClusterClient } from '../../kubernetes/cluster-client.ts';
import type { Runtime } from '../provisioner.ts';

export interface ClusterOfRuntime {
  readonly clientOf: (runtime: Runtime) => Promise<ClusterClient>;
}
