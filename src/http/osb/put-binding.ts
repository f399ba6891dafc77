// PUT /v2/service_instances/{id}/service_bindings/{id}: issues a kubeconfig, synchronously.
import { createBinding } from '../../broker/create-binding.ts';
import { BrokerError } from '../../domain/errors.ts';
import type { OsbParts, OsbScope } from './parts.ts';
import { BindingPath } from './path.ts';
import { requesterOf } from './requester.ts';
import { fromBinding, PutBindingBody, toBindingContext } from './wire.ts';

export function putBindingRoute(scope: OsbScope, parts: OsbParts): void {
  const schema = { params: BindingPath, body: PutBindingBody };
  const path = '/service_instances/:instance_id/service_bindings/:binding_id';
  scope.put(path, { schema }, async (request, reply) => {
    const { params, body } = request;
    refuseRotation(body.predecessor_binding_id);
    const { outcome, binding, remainingSlots } = await createBinding(parts.broker, {
      instanceId: params.instance_id,
      bindingId: params.binding_id,
      serviceId: body.service_id,
      planId: body.plan_id,
      expirationSeconds: body.parameters?.expiration_seconds ?? undefined,
      createdBy: requesterOf(parts, request, toBindingContext(body)),
    });
    return reply
      .code(outcome === 'issued' ? 201 : 200)
      .header('X-Runtime-Broker-Bindings-Remaining', String(remainingSlots))
      .header('Cache-Control', 'no-store')
      .send(fromBinding(binding));
  });
}

/** Plans say `binding_rotatable: false` (OSB 2.17, Catalog Management). */
function refuseRotation(predecessor: unknown): void {
  if (predecessor !== undefined && predecessor !== null) {
    throw new BrokerError({
      code: 'malformed-request',
      description: 'predecessor_binding_id is not supported: bindings are not rotated.',
    });
  }
}
