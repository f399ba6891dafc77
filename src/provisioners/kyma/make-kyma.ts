// Step: the Kyma resource, from which the lifecycle manager installs modules in the runtime. That goes on by itself; a
// runtime can be used and bound before it has ended.
import type { ProvisionContext, Step } from '../provisioner.ts';
import { KYMAS } from './control-plane.ts';
import { type KymaParts, orderOf } from './kyma-parts.ts';
import { kymaResource } from './kyma-resource.ts';
import { makeOnce } from './made-once.ts';
import { removeKyma } from './remove-kyma.ts';

export function makeKyma(parts: KymaParts): Step<ProvisionContext> {
  return {
    name: 'make-kyma',
    run: (context) =>
      makeOnce(parts, context, {
        collection: KYMAS,
        object: kymaResource(orderOf(parts, context)),
      }),
    undo: removeKyma(parts).run,
  };
}
