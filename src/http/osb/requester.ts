// Who asks for a credential, for the ledger and for the log: what the platform says of the person, else who was let in.
import type { FastifyRequest } from 'fastify';

import { type BindingContext, creatorOf } from '../../domain/caller.ts';
import { requestIdentityOf } from '../request-identity.ts';
import { readOriginatingIdentity } from './originating-identity.ts';
import type { OsbParts } from './parts.ts';

/** The preconditions let nobody in that the authenticator does not know; who it was is asked here. */
export function requesterOf(
  { authenticator, log }: OsbParts,
  request: FastifyRequest,
  context: BindingContext,
): string {
  const caller = authenticator.authenticate(request.headers);
  if (caller === undefined) {
    throw new Error('a request without credentials got past the preconditions');
  }
  const identity = readOriginatingIdentity(request.headers['x-broker-api-originating-identity']);
  if (identity === 'malformed') {
    const requestIdentity = requestIdentityOf(request);
    log.warn({ requestIdentity }, 'a malformed originating identity was ignored');
    return creatorOf(caller, context, undefined);
  }
  return creatorOf(caller, context, identity);
}
