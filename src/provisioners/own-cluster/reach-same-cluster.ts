// First step of a resumption: the cluster answers, and is the one that was attached. It was left as it was.
import type { ProvisionContext, Step } from '../provisioner.ts';
import type { ClusterOfRuntime } from '../steps/cluster-of-runtime.ts';
import { sameClusterAt } from './same-cluster.ts';

export function reachSameCluster({ clientOf }: ClusterOfRuntime): Step<ProvisionContext> {
  return {
    name: 'reach-same-cluster',
    run: async (context) => {
      const client = await clientOf(context.runtime);
      return { outcome: 'done', cluster: await sameClusterAt(client, context) };
    },
  };
}
