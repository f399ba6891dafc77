// DELETE /v2/service_instances/{id}: deprovisioning, always asynchronous; its bindings end with it.
import { deleteInstance } from '../../broker/delete-instance.ts';
import type { OsbParts, OsbScope } from './parts.ts';
import { InstancePath } from './path.ts';
import { acceptsIncomplete, namedOffer } from './query.ts';

export function deleteInstanceRoute(scope: OsbScope, { broker }: OsbParts): void {
  const schema = { params: InstancePath };
  scope.delete('/service_instances/:instance_id', { schema }, async (request, reply) => {
    const { operationId } = await deleteInstance(broker, {
      instanceId: request.params.instance_id,
      ...namedOffer(request.query),
      acceptsIncomplete: acceptsIncomplete(request.query),
    });
    return reply.code(202).send({ operation: operationId });
  });
}
