// POST /runtimes/{id}/confirm-restore: an older database was put back, and what it does not know on the instance's
// cluster may be removed.
import { confirmRestore } from '../../broker/confirm-restore.ts';
import type { TypedScope } from '../typed-scope.ts';
import { OrderBody, orderOf, RuntimePath } from './order.ts';
import type { OperatorParts } from './parts.ts';

export function postConfirmRestoreRoute(
  scope: TypedScope,
  { broker, authenticator }: OperatorParts,
): void {
  const schema = { params: RuntimePath, body: OrderBody };
  scope.post('/runtimes/:instance_id/confirm-restore', { schema }, async (request, reply) => {
    const { confirmed } = await confirmRestore(broker, orderOf(authenticator, request));
    return reply.send({ confirmed });
  });
}
