// The clients that are open, one a cluster.
import type { ClusterAccess } from './cluster-access.ts';
import { ClusterClient } from './cluster-client.ts';

export class OpenClusters {
  clientFor(_key: string, access: ClusterAccess): ClusterClient {
    return new ClusterClient(access);
  }
  drop(_key: string): void {}
  async close(): Promise<void> {}
}
