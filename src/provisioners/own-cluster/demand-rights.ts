// What an access is refused with that lacks rights: every one of them is named, by whichever step meets the lack.
import { BrokerError } from '../../domain/errors.ts';
import type { ClusterClient } from '../../kubernetes/cluster-client.ts';
import { missingRights } from '../../kubernetes/missing-rights.ts';
import type { ProvisionContext } from '../provisioner.ts';

/** @throws BrokerError that names every right that is missing */
export async function demandRights(
  client: ClusterClient,
  { plan, signal }: Pick<ProvisionContext, 'plan' | 'signal'>,
): Promise<void> {
  const missing = await missingRights(client, { namespace: plan.namespace, signal });
  if (missing.length > 0) {
    throw new BrokerError({
      code: 'invalid-parameters',
      description: `The kubeconfig's user lacks rights on the cluster: ${missing.join(', ')}`,
    });
  }
}
