// PATCH /v2/service_instances/{id}: updating, suspending and resuming, asynchronous unless nothing but the context changes.
import { updateInstance } from '../../broker/update-instance.ts';
import type { OsbParts, OsbScope } from './parts.ts';
import { InstancePath } from './path.ts';
import { acceptsIncomplete } from './query.ts';
import { PatchInstanceBody, toAccounts } from './wire.ts';

export function patchInstanceRoute(scope: OsbScope, { broker }: OsbParts): void {
  const schema = { params: InstancePath, body: PatchInstanceBody };
  scope.patch('/service_instances/:instance_id', { schema }, async (request, reply) => {
    const { params, body } = request;
    const answer = await updateInstance(broker, {
      instanceId: params.instance_id,
      serviceId: body.service_id,
      planId: body.plan_id ?? undefined,
      acceptsIncomplete: acceptsIncomplete(request.query),
      parameters: body.parameters ?? {},
      accounts: toAccounts(body),
      active: body.context?.active ?? undefined,
      maintenanceVersion: body.maintenance_info?.version,
    });
    return answer.outcome === 'unchanged'
      ? reply.code(200).send({})
      : reply.code(202).send({ operation: answer.operationId });
  });
}
