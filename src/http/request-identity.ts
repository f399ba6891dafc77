// `X-Broker-API-Request-Identity`: the platform's name for a request. It goes back on every answer (OSB 2.17, Request
// Identity) and into the log, where it is the thread between the platform's log and ours.
import type { FastifyReply, FastifyRequest } from 'fastify';

import { cleaned } from '../domain/shown-text.ts';

const HEADER = 'x-broker-api-request-identity';

export function echoRequestIdentity(request: FastifyRequest, reply: FastifyReply): void {
  const identity = request.headers[HEADER];
  if (typeof identity === 'string' && identity !== '') {
    reply.header('X-Broker-API-Request-Identity', identity);
  }
}

/** For the log; undefined where the platform sent none. */
export function requestIdentityOf(request: FastifyRequest): string | undefined {
  const identity = request.headers[HEADER];
  return typeof identity === 'string' && identity !== '' ? cleaned(identity) : undefined;
}
