// Second step: the attached access may do all that issuing and revoking will need; a refusal names what is missing,
// so that nobody finds out at the first bind.
import { BrokerError } from '../../domain/errors.ts';
import type { ClusterClient } from '../../kubernetes/cluster-client.ts';
import { missingRights } from '../../kubernetes/missing-rights.ts';
import type { Step, StepContext } from '../provisioner.ts';
import type { ClusterOfRuntime } from './cluster-of-runtime.ts';

export function checkRights({ clientOf }: ClusterOfRuntime): Step {
  return {
    name: 'check-rights',
    run: async (context) => {
      await demandRights(await clientOf(context.runtime), context);
      return { outcome: 'done' };
    },
  };
}

/** @throws BrokerError that names every right that is missing */
export async function demandRights(
  client: ClusterClient,
  { plan, signal }: Pick<StepContext, 'plan' | 'signal'>,
): Promise<void> {
  const missing = await missingRights(client, { namespace: plan.namespace, signal });
  if (missing.length > 0) {
    throw new BrokerError({
      code: 'invalid-parameters',
      description: `The kubeconfig's user lacks rights on the cluster: ${missing.join(', ')}`,
    });
  }
}
