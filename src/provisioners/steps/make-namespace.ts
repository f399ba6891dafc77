// Step: the namespace where the ServiceAccounts of grants will live.
import { ensureNamespace } from '../../kubernetes/namespace.ts';
import type { ProvisionContext, Step } from '../provisioner.ts';
import type { ClusterOfRuntime } from './cluster-of-runtime.ts';

export function makeNamespace({ clientOf }: ClusterOfRuntime): Step<ProvisionContext> {
  return {
    name: 'make-namespace',
    run: async ({ runtime, plan, signal }) => {
      await ensureNamespace(await clientOf(runtime), plan.namespace, signal);
      return { outcome: 'done' };
    },
  };
}
