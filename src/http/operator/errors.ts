// Which status and words a failure has for operators (docs/api.md, "Refusals"): as for platforms, but for what OSB alone
// asks for. A new code of the broker does not compile until it is answered here.
import type { BrokerError, BrokerErrorCode } from '../../domain/errors.ts';
import { answerTo } from '../failures.ts';
import { type HttpRefusal, retryAfter } from '../refusal.ts';

type StatusAndWord = Pick<HttpRefusal, 'status' | 'error'>;

function statusOf(code: BrokerErrorCode): StatusAndWord {
  switch (code) {
    case 'malformed-request':
    case 'unknown-plan':
    case 'invalid-parameters':
    case 'instance-unusable':
    case 'expiration-out-of-bounds':
    case 'binding-limit-reached':
    case 'binding-not-supported':
    case 'async-required':
    case 'maintenance-info-conflict':
      return { status: 400 };
    case 'instance-not-found':
    case 'binding-not-found':
    // Only a platform must be told that what it deletes is gone already.
    case 'instance-gone':
    case 'binding-gone':
      return { status: 404 };
    case 'instance-conflict':
    case 'binding-conflict':
    case 'cluster-answers':
    case 'nothing-to-retry':
    case 'update-not-supported':
    case 'instance-not-updateable':
      return { status: 409 };
    case 'concurrent-operation':
      return { status: 422, error: 'ConcurrencyError' };
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
  const answer = { ...statusOf(code), description: message };
  return answer.status === 503 ? { ...answer, headers: retryAfter(retryAfterSeconds) } : answer;
}
