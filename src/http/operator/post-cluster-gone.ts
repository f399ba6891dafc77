// POST /runtimes/{id}/cluster-gone: what is left on a cluster that does not exist any more ends as done by absence.
import { declareClusterGone } from '../../broker/declare-cluster-gone.ts';
import type { TypedScope } from '../typed-scope.ts';
import { OrderBody, orderOf, RuntimePath } from './order.ts';
import type { OperatorParts } from './parts.ts';

export function postClusterGoneRoute(
  scope: TypedScope,
  { broker, authenticator }: OperatorParts,
): void {
  const schema = { params: RuntimePath, body: OrderBody };
  scope.post('/runtimes/:instance_id/cluster-gone', { schema }, async (request, reply) => {
    const { ordered, ended, left } = await declareClusterGone(
      broker,
      orderOf(authenticator, request),
    );
    return reply.send({ ordered, ended, left });
  });
}
