// What follows from a step that threw: is the operation worth another try, and what is its user told.
import {
  BrokerError,
  UpstreamError,
  type UpstreamReason,
  type UpstreamSystem,
} from '../domain/errors.ts';
import { AddressRefusedError, sentenceOfRefusal } from '../kubernetes/address-guard.ts';

/** `abandon`: no repeat can help. `repeat`: later, with the description shown meanwhile. */
export interface StepFailure {
  readonly verdict: 'abandon' | 'repeat';
  readonly description: string;
  /** The system's own wish, where it has one. */
  readonly retryAfterSeconds?: number;
}

export function stepFailure(error: unknown): StepFailure {
  if (error instanceof BrokerError) {
    return { verdict: 'abandon', description: error.message };
  }
  if (error instanceof UpstreamError) {
    const { retryAfterSeconds } = error;
    return {
      verdict: isWorthRepeating(error) ? 'repeat' : 'abandon',
      description: describe(error),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    };
  }
  // A bug of ours, or a damaged row: the deadline bounds the repeats, and a new release may end them earlier.
  return { verdict: 'repeat', description: 'An internal error occurred; it is tried again.' };
}

/** What our own control plane refuses today is ours to mend, and no reason to give up what a user has ordered. */
function isWorthRepeating({ system, reason, retryable }: UpstreamError): boolean {
  return retryable || (system === 'control-plane' && reason !== 'invalid');
}

/** No host, no text of the cluster: a platform shows this to its user. */
function describe(error: UpstreamError): string {
  if (error instanceof AddressRefusedError) {
    return sentenceOfRefusal(error.kind);
  }
  const { system, reason } = error;
  const ours = system === 'cluster' ? undefined : OF_OUR_OWN[reason];
  return `${SUBJECTS[system]} ${ours ?? PREDICATES[reason]}.`;
}

const SUBJECTS: Readonly<Record<UpstreamSystem, string>> = {
  cluster: 'The cluster',
  database: 'The database of the broker',
  'control-plane': 'The control plane',
  gardener: 'Gardener',
};

/** Where no user has given a kubeconfig. */
const OF_OUR_OWN: Partial<Record<UpstreamReason, string>> = {
  unauthorized: 'does not accept the credentials of the broker',
  forbidden: 'denies a right that the broker needs',
};

const PREDICATES: Readonly<Record<UpstreamReason, string>> = {
  unauthorized: 'does not accept the credentials of the kubeconfig',
  forbidden: 'denies a right that the kubeconfig needs',
  'not-found': 'does not know an object that must be there',
  conflict: 'reports a conflict with another change',
  invalid: 'rejects a request as invalid',
  'too-many-requests': 'is too busy',
  'server-error': 'reports an internal error',
  'unexpected-status': 'gives an unexpected answer',
  unreachable: 'cannot be reached',
  tls: 'has a certificate that is not trusted',
  'timed-out': 'does not answer in time',
  cut: 'cuts the connection',
  cancelled: 'did not answer before the attempt was stopped',
  'malformed-answer': 'does not answer as a Kubernetes API server',
  'address-refused': 'is at an address that is refused',
};
