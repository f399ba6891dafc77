// GET /bindings: every credential that may still work somewhere, deleted instances' too, and which revocations are stuck.
import { listBindings } from '../../broker/list-bindings.ts';
import type { TypedScope } from '../typed-scope.ts';
import { toBindingsQuestion, toCursor } from './bindings-query.ts';
import type { OperatorParts } from './parts.ts';
import { fromGrant } from './wire.ts';

export function getBindingsRoute(scope: TypedScope, { broker }: OperatorParts): void {
  scope.get('/bindings', async ({ query }, reply) => {
    const { bindings, next } = await listBindings(broker, toBindingsQuestion(query));
    return reply.send({
      data: bindings.map(fromGrant),
      count: bindings.length,
      ...(next === undefined ? {} : { nextCursor: toCursor(next) }),
    });
  });
}
