// The end of a runtime: the infrastructure manager takes the cluster, its kubeconfig and last the Runtime away.
import type { Step, StepContext, StepOutcome } from '../provisioner.ts';
import { isOf, RUNTIMES } from './control-plane.ts';
import type { KymaParts } from './kyma-parts.ts';
import { nameOfRuntime } from './kyma-order.ts';
import { removeOnce } from './made-once.ts';

export function removeRuntime(parts: KymaParts): Step {
  return {
    name: 'remove-runtime',
    run: (context) =>
      removeOnce(parts, context, {
        collection: RUNTIMES,
        description: 'The cluster is being removed.',
      }),
  };
}

/** For an operation that has failed: the end is ordered, which the control plane remembers, and not waited for. */
export async function orderRuntimesEnd(
  { controlPlane }: KymaParts,
  { runtime, signal }: StepContext,
): Promise<StepOutcome> {
  const { instance } = runtime;
  if (instance.runtimeId === undefined) return { outcome: 'done' };
  const found = await controlPlane.find(RUNTIMES, nameOfRuntime(instance.runtimeId), signal);
  if (found !== undefined && isOf(found, instance)) {
    await controlPlane.remove(RUNTIMES, found.metadata, signal);
  }
  return { outcome: 'done' };
}
