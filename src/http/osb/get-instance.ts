// GET /v2/service_instances/{id}. The ids a platform may add to the query are hints, and not needed (C86).
import { getInstance } from '../../broker/get-instance.ts';
import type { OsbParts, OsbScope } from './parts.ts';
import { InstancePath } from './path.ts';

export function getInstanceRoute(scope: OsbScope, { broker }: OsbParts): void {
  const schema = { params: InstancePath };
  scope.get('/service_instances/:instance_id', { schema }, async ({ params }, reply) => {
    const shown = await getInstance(broker, { instanceId: params.instance_id });
    return reply.send({
      service_id: shown.serviceId,
      plan_id: shown.planId,
      parameters: shown.parameters,
    });
  });
}
