// First step: the cluster answers and says which one it is.
import { readClusterUid } from '../../kubernetes/cluster-identity.ts';
import type { Step } from '../provisioner.ts';
import type { ClusterOfRuntime } from './cluster-of-runtime.ts';

export function reachCluster({ clientOf }: ClusterOfRuntime): Step {
  return {
    name: 'reach-cluster',
    run: async ({ runtime, signal }) => {
      const client = await clientOf(runtime);
      const uid = await readClusterUid(client, signal);
      const { server, certificateAuthorityData, tlsServerName } = client.access;
      return { outcome: 'done', cluster: { uid, server, certificateAuthorityData, tlsServerName } };
    },
  };
}
