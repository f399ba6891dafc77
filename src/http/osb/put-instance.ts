// PUT /v2/service_instances/{id}: provisioning, always asynchronous.
import { createInstance } from '../../broker/create-instance.ts';
import type { OsbParts, OsbScope } from './parts.ts';
import { InstancePath } from './path.ts';
import { acceptsIncomplete } from './query.ts';
import { PutInstanceBody, toAccounts } from './wire.ts';

export function putInstanceRoute(scope: OsbScope, { broker, defaultRegion }: OsbParts): void {
  const schema = { params: InstancePath, body: PutInstanceBody };
  scope.put('/service_instances/:instance_id', { schema }, async (request, reply) => {
    const { params, body } = request;
    const answer = await createInstance(broker, {
      instanceId: params.instance_id,
      serviceId: body.service_id,
      planId: body.plan_id,
      acceptsIncomplete: acceptsIncomplete(request.query),
      parameters: body.parameters ?? {},
      accounts: toAccounts(body),
      platformRegion: params.region ?? defaultRegion,
      maintenanceVersion: body.maintenance_info?.version,
    });
    return answer.outcome === 'exists'
      ? reply.code(200).send({})
      : reply.code(202).send({ operation: answer.operationId });
  });
}
