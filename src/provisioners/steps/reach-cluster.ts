// Step: the cluster answers and says which one it is.
import type { ClusterClient } from '../../kubernetes/cluster-client.ts';
import { readClusterUid } from '../../kubernetes/cluster-identity.ts';
import { hasReason } from '../../kubernetes/failures.ts';
import type { ProvisionContext, Step } from '../provisioner.ts';
import type { ClusterOfRuntime } from './cluster-of-runtime.ts';

export interface ReachParts extends ClusterOfRuntime {
  /** Run where the access may not even ask for the identity; throws what says more than that. */
  readonly whenForbidden?: (client: ClusterClient, context: ProvisionContext) => Promise<void>;
}

export function reachCluster(parts: ReachParts): Step<ProvisionContext> {
  return {
    name: 'reach-cluster',
    run: async (context) => {
      const client = await parts.clientOf(context.runtime);
      const uid = await readUid(client, context, parts);
      const { server, certificateAuthorityData, tlsServerName } = client.access;
      return { outcome: 'done', cluster: { uid, server, certificateAuthorityData, tlsServerName } };
    },
  };
}

async function readUid(
  client: ClusterClient,
  context: ProvisionContext,
  { whenForbidden }: ReachParts,
): Promise<string> {
  try {
    return await readClusterUid(client, context.signal);
  } catch (error) {
    if (hasReason(error, 'forbidden')) await whenForbidden?.(client, context);
    throw error;
  }
}
