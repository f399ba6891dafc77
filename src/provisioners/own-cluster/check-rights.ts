// Second step: the attached access may do all that issuing and revoking will need, so that nobody finds out at the
// first bind what it may not.
import type { ProvisionContext, Step } from '../provisioner.ts';
import type { ClusterOfRuntime } from '../steps/cluster-of-runtime.ts';
import { demandRights } from './demand-rights.ts';

export function checkRights({ clientOf }: ClusterOfRuntime): Step<ProvisionContext> {
  return {
    name: 'check-rights',
    run: async (context) => {
      await demandRights(await clientOf(context.runtime), context);
      return { outcome: 'done' };
    },
  };
}
