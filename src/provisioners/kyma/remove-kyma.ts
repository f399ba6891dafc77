// Step before the runtime goes: the lifecycle manager takes the modules out while there is a cluster to do so on.
import type { Step } from '../provisioner.ts';
import { KYMAS } from './control-plane.ts';
import type { KymaParts } from './kyma-parts.ts';
import { removeOnce } from './made-once.ts';

export function removeKyma(parts: KymaParts): Step {
  return {
    name: 'remove-kyma',
    run: (context) =>
      removeOnce(parts, context, {
        collection: KYMAS,
        description: 'The modules of the runtime are being removed.',
      }),
  };
}
