// DELETE /runtimes/{id}/bindings: ends all bindings of an instance; the answer says how far that went.
import { revokeBindingsOfInstance } from '../../broker/revoke-bindings-of-instance.ts';
import type { TypedScope } from '../typed-scope.ts';
import { OrderBody, orderOf, RuntimePath } from './order.ts';
import type { OperatorParts } from './parts.ts';

export function deleteBindingsRoute(
  scope: TypedScope,
  { broker, authenticator }: OperatorParts,
): void {
  const schema = { params: RuntimePath, body: OrderBody };
  scope.delete('/runtimes/:instance_id/bindings', { schema }, async (request, reply) => {
    const { ordered, ended, left } = await revokeBindingsOfInstance(
      broker,
      orderOf(authenticator, request),
    );
    return reply.send({ ordered, ended, left });
  });
}
