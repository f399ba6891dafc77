// One line per request, written once it is answered: enough to follow an instance or a binding through the log, and
// nothing of headers, queries or bodies, which carry credentials.
import type { FastifyReply, FastifyRequest } from 'fastify';

import { cleaned } from '../domain/shown-text.ts';
import type { Logger } from '../observability/logger.ts';
import { requestIdentityOf } from './request-identity.ts';

export function logRequest(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const status = reply.statusCode;
  const durationMs = Math.round(reply.elapsedTime * 10) / 10;
  log.info({ ...namesOf(request), status, durationMs }, 'request');
}

/** Whoever asked does not wait any more; what was begun for them ends in the ledger's own way. */
export function logAbandonedRequest(log: Logger, request: FastifyRequest): void {
  log.info(namesOf(request), 'request abandoned by the client');
}

/** What the router found; nothing where the URL could not be decoded. */
interface IdsInPath {
  readonly instance_id?: string;
  readonly binding_id?: string;
}

function namesOf(request: FastifyRequest) {
  const { instance_id: instanceId, binding_id: bindingId } = (request.params ?? {}) as IdsInPath;
  return {
    method: request.method,
    // The pattern and not the path, so that lines of one route are found together.
    route: request.routeOptions.url,
    requestIdentity: requestIdentityOf(request),
    instanceId: instanceId && cleaned(instanceId),
    bindingId: bindingId && cleaned(bindingId),
  };
}
