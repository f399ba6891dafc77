// POST /bindings/{id}/{id}/retry: the next try to revoke is now; the answer says what it came to.
import { retryRevocation } from '../../broker/retry-revocation.ts';
import type { TypedScope } from '../typed-scope.ts';
import { BindingPath, OrderBody, orderOf } from './order.ts';
import type { OperatorParts } from './parts.ts';
import { fromGrant } from './wire.ts';

export function postRetryRoute(scope: TypedScope, { broker, authenticator }: OperatorParts): void {
  const schema = { params: BindingPath, body: OrderBody };
  const path = '/bindings/:instance_id/:binding_id/retry';
  scope.post(path, { schema }, async (request, reply) => {
    const order = orderOf(authenticator, request);
    const bindingId = request.params.binding_id;
    const { left } = await retryRevocation(broker, { ...order, bindingId });
    return reply.send(
      left === undefined ? { outcome: 'ended' } : { outcome: 'left', binding: fromGrant(left) },
    );
  });
}
