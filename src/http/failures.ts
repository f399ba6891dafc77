// What all surfaces do with a failure; which status and words a code of the broker has is each surface's own.
import type { FastifyReply, FastifyRequest } from 'fastify';

import { BrokerError, UpstreamError } from '../domain/errors.ts';
import type { Logger } from '../observability/logger.ts';
import { answerToFrameworkError } from './framework-errors.ts';
import { type HttpRefusal, refuse, retryAfter } from './refusal.ts';
import { requestIdentityOf } from './request-identity.ts';

export function answerTo(
  error: unknown,
  answerToBrokerError: (error: BrokerError) => HttpRefusal,
): HttpRefusal {
  if (error instanceof BrokerError) {
    return answerToBrokerError(error);
  }
  // Whatever keeps it from us: who repeats finds it back once an operator has seen to it.
  if (error instanceof UpstreamError && error.system === 'database') {
    return {
      status: 503,
      description: 'The broker cannot reach its database. Try again later.',
      headers: retryAfter(error.retryAfterSeconds),
    };
  }
  return answerToFrameworkError(error);
}

interface FailedRequest {
  readonly answer: HttpRefusal;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What only operators can see the cause of is logged with its chain. */
export function answerFailure(
  log: Logger,
  error: unknown,
  { answer, request, reply }: FailedRequest,
): FastifyReply {
  const facts = {
    err: error,
    route: request.routeOptions.url,
    requestIdentity: requestIdentityOf(request),
  };
  if (answer.status === 500) {
    log.error(facts, 'a request failed');
  } else if (answer.status > 500) {
    log.warn(facts, 'a request could not be served');
  }
  return refuse(reply, answer);
}
