// GET /v2/service_instances/{id}/last_operation: how the work goes. Platforms poll it, from the 202 to the end.
import { getInstanceOperation } from '../../broker/get-instance-operation.ts';
import type { OsbParts, OsbScope } from './parts.ts';
import { InstancePath } from './path.ts';
import { queryValue } from './query.ts';
import { fromFailure } from './wire.ts';

export function getInstanceOperationRoute(scope: OsbScope, { broker }: OsbParts): void {
  const schema = { params: InstancePath };
  const path = '/service_instances/:instance_id/last_operation';
  scope.get(path, { schema }, async ({ params, query }, reply) => {
    const { state, description, left } = await getInstanceOperation(broker, {
      instanceId: params.instance_id,
      operationId: queryValue(query, 'operation'),
    });
    return reply.send({
      state,
      ...(description === '' ? {} : { description }),
      ...(left === undefined ? {} : fromFailure(left)),
    });
  });
}
