// The end of a runtime: its cluster goes, with all that is in it. Its bindings were ended before.
import type { Step } from '../provisioner.ts';
import type { SandboxHost } from './sandbox-host.ts';

export function removeCluster(host: SandboxHost): Step {
  return {
    name: 'remove-cluster',
    run: ({ runtime }) => {
      host.removeCluster(runtime.instance.key);
      return Promise.resolve({ outcome: 'done' });
    },
  };
}
