// The cluster of an instance stays the one that was attached, whatever access leads to it (docs/api.md, "Change, suspend, resume").
import { BrokerError } from '../../domain/errors.ts';
import type { AttachedCluster } from '../../domain/instance.ts';
import type { ClusterClient } from '../../kubernetes/cluster-client.ts';
import type { ProvisionContext } from '../provisioner.ts';
import { reachedCluster } from '../steps/reach-cluster.ts';
import { demandRights } from './demand-rights.ts';

/** @throws BrokerError `other-cluster`, and as demandRights does where the access may not even ask */
export async function sameClusterAt(
  client: ClusterClient,
  context: ProvisionContext,
): Promise<AttachedCluster> {
  const reached = await reachedCluster(client, context, { whenForbidden: demandRights });
  if (reached.uid !== context.runtime.instance.cluster?.uid) {
    throw new BrokerError({
      code: 'other-cluster',
      description:
        'The kubeconfig leads to another cluster than the one that is attached; only the access to that one can be replaced.',
    });
  }
  return reached;
}
