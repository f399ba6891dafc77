// Step: the cluster answers and says which one it is.
import type { AttachedCluster } from '../../domain/instance.ts';
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
      return { outcome: 'done', cluster: await reachedCluster(client, context, parts) };
    },
  };
}

/** What a client leads to. */
export async function reachedCluster(
  client: ClusterClient,
  context: ProvisionContext,
  { whenForbidden }: Pick<ReachParts, 'whenForbidden'>,
): Promise<AttachedCluster> {
  const { server, certificateAuthorityData, tlsServerName } = client.access;
  try {
    const uid = await readClusterUid(client, context.signal);
    return { uid, server, certificateAuthorityData, tlsServerName };
  } catch (error) {
    if (hasReason(error, 'forbidden')) await whenForbidden?.(client, context);
    throw error;
  }
}
