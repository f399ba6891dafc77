// First step: the cluster answers and says which one it is.
import type { ClusterClient } from '../../kubernetes/cluster-client.ts';
import { readClusterUid } from '../../kubernetes/cluster-identity.ts';
import { hasReason } from '../../kubernetes/failures.ts';
import type { ProvisionContext, Step } from '../provisioner.ts';
import type { ClusterOfRuntime } from './cluster-of-runtime.ts';
import { demandRights } from './demand-rights.ts';

export function reachCluster({ clientOf }: ClusterOfRuntime): Step<ProvisionContext> {
  return {
    name: 'reach-cluster',
    run: async (context) => {
      const client = await clientOf(context.runtime);
      const uid = await readUid(client, context);
      const { server, certificateAuthorityData, tlsServerName } = client.access;
      return { outcome: 'done', cluster: { uid, server, certificateAuthorityData, tlsServerName } };
    },
  };
}

/** Who may not even ask learns all that is missing at once, as the next step would name it. */
async function readUid(client: ClusterClient, context: ProvisionContext): Promise<string> {
  try {
    return await readClusterUid(client, context.signal);
  } catch (error) {
    if (hasReason(error, 'forbidden')) await demandRights(client, context);
    throw error;
  }
}
