// How the steps reach the cluster they attach.
import type { ClusterClient } from '../../kubernetes/cluster-client.ts';
import type { Runtime } from '../provisioner.ts';

export interface ClusterOfRuntime {
  readonly clientOf: (runtime: Runtime) => Promise<ClusterClient>;
}
