// DELETE /v2/service_instances/{id}/service_bindings/{id}: revokes, synchronously; 200 only once it is revoked.
import { deleteBinding } from '../../broker/delete-binding.ts';
import type { OsbParts, OsbScope } from './parts.ts';
import { BindingPath } from './path.ts';
import { namedOffer } from './query.ts';

export function deleteBindingRoute(scope: OsbScope, { broker }: OsbParts): void {
  const schema = { params: BindingPath };
  const path = '/service_instances/:instance_id/service_bindings/:binding_id';
  scope.delete(path, { schema }, async ({ params, query }, reply) => {
    await deleteBinding(broker, {
      instanceId: params.instance_id,
      bindingId: params.binding_id,
      ...namedOffer(query),
    });
    return reply.send({});
  });
}
