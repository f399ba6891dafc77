// GET /v2/service_instances/{id}/service_bindings/{id}: the same credential again, as long as it lives.
import { getBinding } from '../../broker/get-binding.ts';
import type { OsbParts, OsbScope } from './parts.ts';
import { BindingPath } from './path.ts';
import { fromBinding, fromBindingParameters } from './wire.ts';

export function getBindingRoute(scope: OsbScope, { broker }: OsbParts): void {
  const schema = { params: BindingPath };
  const path = '/service_instances/:instance_id/service_bindings/:binding_id';
  scope.get(path, { schema }, async ({ params }, reply) => {
    const binding = await getBinding(broker, {
      instanceId: params.instance_id,
      bindingId: params.binding_id,
    });
    return reply
      .header('Cache-Control', 'no-store')
      .send({ ...fromBinding(binding), parameters: fromBindingParameters(binding) });
  });
}
