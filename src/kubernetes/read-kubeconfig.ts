// Reads a tenant's kubeconfig.
import type { ClusterAccess } from './cluster-access.ts';

export function readKubeconfig(text: string): ClusterAccess {
  throw new Error(`not built yet: ${text.length}`);
}
