// First step: a cluster of the instance's own, named by the instance's own key: an OSB id can be used again.
import type { ProvisionContext, Step } from '../provisioner.ts';
import type { SandboxHost } from './sandbox-host.ts';

export function makeCluster(host: SandboxHost): Step<ProvisionContext> {
  return {
    name: 'make-cluster',
    run: ({ runtime }) => {
      host.makeCluster(runtime.instance.key);
      return Promise.resolve({ outcome: 'done' });
    },
  };
}
