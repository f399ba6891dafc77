// What a caller is told when the target cluster fails: whether a repeat is worth it, and nothing of its address.
import { BrokerError, type Refusal, UpstreamError } from '../domain/errors.ts';
import { RETRY_AFTER_SECONDS } from '../domain/refusals.ts';
import { ClusterClockError } from '../kubernetes/cluster-clock.ts';
import { NamespaceMissingError } from '../kubernetes/namespace.ts';

/** @returns undefined for what is no failure of the cluster: a refusal that stands, the database, or a bug */
function clusterRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof UpstreamError) || error.system === 'database') {
    return undefined;
  }
  return error.retryable
    ? {
        code: 'cluster-unavailable',
        description: 'The cluster cannot be reached or is too busy. Try again later.',
        retryAfterSeconds: error.retryAfterSeconds ?? RETRY_AFTER_SECONDS,
      }
    : { code: 'cluster-refused', description: descriptionOf(error) };
}

function descriptionOf(error: UpstreamError): string {
  return error instanceof ClusterClockError
    ? 'No credential of the cluster can be handed out: its clock differs too much from the broker’s.'
    : `The cluster refused the request${wordFor(error)}.`;
}

function wordFor(error: UpstreamError): string {
  switch (error.reason) {
    case 'unauthorized':
      return ': the admin access is not accepted any more';
    case 'forbidden':
      return ': the admin access lacks a right';
    case 'not-found':
      return error instanceof NamespaceMissingError ? ': the namespace of bindings is missing' : '';
    case 'address-refused':
      return ': it is at an address that the broker may not call';
    case 'tls':
      return ': its certificate is not trusted';
    default:
      return '';
  }
}

/** The same failure as a BrokerError where it was the cluster's; anything else is thrown on as it is. */
export function whatToTell(error: unknown): unknown {
  const refusal = clusterRefusal(error);
  return refusal === undefined ? error : new BrokerError(refusal, { cause: error });
}

/** For a request whose revocation could not be finished: it goes on, and a repeat may find it done. */
export function notRevokedYet(cause: unknown): BrokerError {
  const asked = cause instanceof UpstreamError ? cause.retryAfterSeconds : undefined;
  return new BrokerError(
    {
      code: 'not-revoked-yet',
      description:
        'The credential could not be revoked on the cluster yet. Try again later; it is not reported as deleted before it is.',
      retryAfterSeconds: asked ?? RETRY_AFTER_SECONDS,
    },
    { cause },
  );
}

/** For an issue that was stopped; whether its undo went through is in its row, not in this answer. */
export function createLimitPassed(cause: unknown): BrokerError {
  return new BrokerError(
    {
      code: 'create-limit-passed',
      description: 'The cluster took too long; the attempt was stopped. Try again later.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
    { cause },
  );
}
