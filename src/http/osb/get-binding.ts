// GET /v2/service_instances/{id}/service_bindings/{id}: the same credential again, as long as it lives.
import { getBinding } from '../../broker/get-binding.ts';
import type { OsbParts, OsbScope } from './parts.ts';
import { BindingPath } from './path.ts';
import { requesterOf } from './requester.ts';
import { fromBinding, fromBindingParameters } from './wire.ts';

/** A fetch has no context. */
const NOTHING_SAID = { email: undefined, origin: undefined };

export function getBindingRoute(scope: OsbScope, parts: OsbParts): void {
  const schema = { params: BindingPath };
  const path = '/service_instances/:instance_id/service_bindings/:binding_id';
  scope.get(path, { schema }, async (request, reply) => {
    const { params } = request;
    const binding = await getBinding(parts.broker, {
      instanceId: params.instance_id,
      bindingId: params.binding_id,
      requestedBy: requesterOf(parts, request, NOTHING_SAID),
    });
    return reply
      .header('Cache-Control', 'no-store')
      .send({ ...fromBinding(binding), parameters: fromBindingParameters(binding) });
  });
}
