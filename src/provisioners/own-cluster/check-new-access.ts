// The step of an update: access that came with the request leads to the cluster that is attached, and may do all that
// is needed there. Without one there is nothing to check.
import type { OpenClusters } from '../../kubernetes/open-clusters.ts';
import type { Step, UpdateContext } from '../provisioner.ts';
import { demandRights } from './demand-rights.ts';
import { sameClusterAt } from './same-cluster.ts';

export function checkNewAccess(clusters: OpenClusters): Step<UpdateContext> {
  return {
    name: 'check-new-access',
    run: async (context) => {
      const access = await context.newAccess();
      if (access === undefined) {
        return { outcome: 'done' };
      }
      // Not under the instance's own key: bindings are served by the access that it has until this one is taken.
      const key = context.operation.id;
      try {
        const client = clusters.clientFor(key, access);
        const cluster = await sameClusterAt(client, context);
        await demandRights(client, context);
        return { outcome: 'done', cluster };
      } finally {
        clusters.drop(key);
      }
    },
  };
}
