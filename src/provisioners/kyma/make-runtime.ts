// First step: the Runtime resource, from which the infrastructure manager makes a cluster.
import type { ProvisionContext, Step } from '../provisioner.ts';
import { RUNTIMES } from './control-plane.ts';
import { type KymaParts, orderOf } from './kyma-parts.ts';
import { makeOnce } from './made-once.ts';
import { orderRuntimesEnd } from './remove-runtime.ts';
import { runtimeResource } from './runtime-resource.ts';

export function makeRuntime(parts: KymaParts): Step<ProvisionContext> {
  return {
    name: 'make-runtime',
    run: (context) =>
      makeOnce(parts, context, {
        collection: RUNTIMES,
        object: runtimeResource(orderOf(parts, context)),
      }),
    undo: (context) => orderRuntimesEnd(parts, context),
  };
}
