// `X-Broker-API-Request-Identity`: the platform's name for a request. It goes back on every answer (OSB 2.17, Request
// Identity) and into the log, where it is the thread between the platform's log and ours.
import type { FastifyReply, FastifyRequest } from 'fastify';

const HEADER = 'x-broker-api-request-identity';

/** A GUID has 36; what is longer is no name. */
const MAX_LOGGED_CHARACTERS = 128;

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

/** A text of a caller as a log may show it: without control characters, and not without end. */
export function cleaned(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '').slice(0, MAX_LOGGED_CHARACTERS);
}
