// Step: the runtime's kubeconfig works, and the namespace of grants is there. The infrastructure manager makes both
// before it calls a runtime ready, so what is missing or refused here is waited for, never made.
import { UpstreamError } from '../../domain/errors.ts';
import { isNamespaceMissing } from '../../kubernetes/namespace.ts';
import type { ProvisionContext, Step, StepOutcome } from '../provisioner.ts';
import type { ClusterOfRuntime } from '../steps/cluster-of-runtime.ts';
import { type KymaParts, waiting } from './kyma-parts.ts';

const DESCRIPTION = 'Operation created. The cluster is being prepared for use.';

type CheckParts = ClusterOfRuntime &
  Pick<KymaParts, 'installation'> & { readonly forgetAccess: (instanceKey: string) => void };

export function checkRuntime(parts: CheckParts): Step<ProvisionContext> {
  return {
    name: 'check-runtime',
    run: (context) => whenUsable(parts, context, () => hasNamespace(parts, context)),
  };
}

async function hasNamespace(
  parts: CheckParts,
  { runtime, plan, signal }: ProvisionContext,
): Promise<StepOutcome> {
  const client = await parts.clientOf(runtime);
  return (await isNamespaceMissing(client, plan.namespace, signal))
    ? waiting(parts, DESCRIPTION)
    : { outcome: 'done' };
}

/** What a new cluster refuses at first, it may allow a moment later, to the same kubeconfig or to the next one. */
export async function whenUsable(
  parts: CheckParts,
  { runtime }: ProvisionContext,
  use: () => Promise<StepOutcome>,
): Promise<StepOutcome> {
  try {
    return await use();
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.system !== 'cluster') throw error;
    parts.forgetAccess(runtime.instance.key);
    if (error.retryable) throw error;
    return waiting(parts, DESCRIPTION);
  }
}
