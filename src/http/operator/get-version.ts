// GET /version: what runs here, for whoever compares replicas or writes a report of a fault
// (docs/api.md, "For operators").
import type { TypedScope } from '../typed-scope.ts';
import type { OperatorParts } from './parts.ts';

export function getVersionRoute(scope: TypedScope, { versions }: OperatorParts): void {
  scope.get('/version', (_request, reply) => reply.send(versions));
}
