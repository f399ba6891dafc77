// GET …/service_bindings/{id}/last_operation. Bindings are synchronous, so nobody is sent here; who comes is told.
import { getBindingOperation } from '../../broker/get-binding-operation.ts';
import type { OsbParts, OsbScope } from './parts.ts';
import { BindingPath } from './path.ts';

export function getBindingOperationRoute(scope: OsbScope, { broker }: OsbParts): void {
  const schema = { params: BindingPath };
  const path = '/service_instances/:instance_id/service_bindings/:binding_id/last_operation';
  scope.get(path, { schema }, async ({ params }, reply) => {
    const { state } = await getBindingOperation(broker, {
      instanceId: params.instance_id,
      bindingId: params.binding_id,
    });
    return reply.send({ state });
  });
}
