// A request that is refused before a verb of the broker sees it, and the one form in which errors leave: a JSON object
// with a sentence for the user and, where OSB names one, a word for the program (OSB 2.17, Service Broker Errors).
import type { FastifyReply } from 'fastify';

import { RETRY_AFTER_SECONDS } from '../domain/refusals.ts';

export interface HttpRefusal {
  readonly status: number;
  /** One camel-case word; only where OSB or docs/api.md names it. */
  readonly error?: string;
  /** Left out where OSB wants an empty object. */
  readonly description?: string;
  /** Of updating and deleting alone (OSB 2.17, Service Broker Errors). */
  readonly instance_usable?: boolean;
  /** Of updating alone. */
  readonly update_repeatable?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export function refuse(reply: FastifyReply, refusal: HttpRefusal): FastifyReply {
  const { status, headers = {}, ...body } = refusal;
  return reply.code(status).headers(headers).send(body);
}

/** The end of a hook: the request goes on, or is refused here. */
export function goOnUnless(
  refusal: HttpRefusal | undefined,
  reply: FastifyReply,
  goOn: () => void,
): void {
  if (refusal === undefined) {
    goOn();
  } else {
    refuse(reply, refusal);
  }
}

/** For what a repeat may cure. */
export function retryAfter(
  seconds: number = RETRY_AFTER_SECONDS,
): Readonly<Record<string, string>> {
  return { 'Retry-After': String(seconds) };
}

/** The whole answer to what only operators can do something about; the log has the rest. */
export const INTERNAL_ERROR: HttpRefusal = {
  status: 500,
  description: 'The broker failed to serve the request. Its log says why.',
};

export function malformed(description: string): HttpRefusal {
  return { status: 400, description };
}
