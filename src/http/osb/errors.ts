// Which status and words a failure has on OSB (OSB 2.17, Service Broker Errors; docs/api.md, "What holds for all OSB
// routes"). A new code of the broker does not compile until it is answered here.
import type { BrokerError, BrokerErrorCode } from '../../domain/errors.ts';
import { answerTo } from '../failures.ts';
import { type HttpRefusal, retryAfter } from '../refusal.ts';

type StatusAndWord = Pick<
  HttpRefusal,
  'status' | 'error' | 'instance_usable' | 'update_repeatable'
>;

/** Codes of updating alone: a repeat is refused likewise, until something else has changed the instance. */
const NOT_UPDATED = { status: 422, update_repeatable: false } as const;

function statusOf(code: BrokerErrorCode): StatusAndWord {
  switch (code) {
    case 'malformed-request':
    case 'unknown-plan':
    case 'invalid-parameters':
    case 'instance-unusable':
    case 'expiration-out-of-bounds':
    case 'binding-limit-reached':
      return { status: 400 };
    case 'binding-not-supported':
      return { status: 400, error: 'BindingNotSupported' };
    case 'instance-not-found':
    case 'binding-not-found':
      return { status: 404 };
    case 'instance-conflict':
    case 'binding-conflict':
    case 'cluster-answers':
    case 'nothing-to-retry':
      return { status: 409 };
    case 'instance-gone':
    case 'binding-gone':
      return { status: 410 };
    case 'async-required':
      return { status: 422, error: 'AsyncRequired' };
    case 'concurrent-operation':
      return { status: 422, error: 'ConcurrencyError' };
    case 'maintenance-info-conflict':
      return { status: 422, error: 'MaintenanceInfoConflict' };
    case 'update-not-supported':
      return { ...NOT_UPDATED, error: 'UpdateNotSupported', instance_usable: true };
    case 'instance-not-updateable':
      return { ...NOT_UPDATED, error: 'InstanceNotUpdateable', instance_usable: false };
    case 'other-cluster':
    case 'cluster-refused':
      return { status: 502 };
    case 'create-limit-passed':
    case 'not-revoked-yet':
    case 'cluster-unavailable':
      return { status: 503 };
  }
}

export function answerToFailure(error: unknown): HttpRefusal {
  return answerTo(error, answerToBrokerError);
}

function answerToBrokerError({ code, message, retryAfterSeconds }: BrokerError): HttpRefusal {
  const answer = statusOf(code);
  switch (answer.status) {
    case 410:
      // "The expected response body is {}" (OSB 2.17, Deprovisioning and Unbinding).
      return answer;
    case 503:
      return { ...answer, description: message, headers: retryAfter(retryAfterSeconds) };
    default:
      return { ...answer, description: message };
  }
}
