import { describe, expect, it } from 'vitest';

import { BrokerError, type BrokerErrorCode, UpstreamError } from '../../domain/errors.ts';
import { answerToFailure } from './errors.ts';

/** Of docs/api.md, "What holds for all OSB routes" and "Refusals". */
const STATUSES: Readonly<Record<BrokerErrorCode, readonly [number, string | undefined]>> = {
  'malformed-request': [400, undefined],
  'unknown-plan': [400, undefined],
  'invalid-parameters': [400, undefined],
  'instance-unusable': [400, undefined],
  'expiration-out-of-bounds': [400, undefined],
  'binding-limit-reached': [400, undefined],
  'binding-not-supported': [400, undefined],
  'async-required': [400, undefined],
  'maintenance-info-conflict': [400, undefined],
  'instance-not-found': [404, undefined],
  'binding-not-found': [404, undefined],
  'instance-gone': [404, undefined],
  'binding-gone': [404, undefined],
  'instance-conflict': [409, undefined],
  'binding-conflict': [409, undefined],
  'cluster-answers': [409, undefined],
  'nothing-to-retry': [409, undefined],
  'update-not-supported': [409, undefined],
  'instance-not-updateable': [409, undefined],
  'concurrent-operation': [422, 'ConcurrencyError'],
  'other-cluster': [502, undefined],
  'cluster-refused': [502, undefined],
  'create-limit-passed': [503, undefined],
  'not-revoked-yet': [503, undefined],
  'cluster-unavailable': [503, undefined],
};

describe('a failure, for operators', () => {
  it.each(Object.entries(STATUSES))('of the broker, %s', (code, [status, error]) => {
    const description = 'A sentence for the operator.';
    const answer = answerToFailure(new BrokerError({ code: code as BrokerErrorCode, description }));

    expect(answer).toEqual({
      status,
      ...(error === undefined ? {} : { error }),
      description,
      ...(status === 503 ? { headers: { 'Retry-After': '5' } } : {}),
    });
  });

  it('of the database is 503, and its words stay inside', () => {
    const detail = 'connect ECONNREFUSED 10.0.0.7:5432';
    const failure = { system: 'database', action: 'read grants', reason: 'unreachable' } as const;

    expect(answerToFailure(new UpstreamError({ ...failure, detail }))).toEqual({
      status: 503,
      description: 'The broker cannot reach its database. Try again later.',
      headers: { 'Retry-After': '5' },
    });
  });

  it('that nobody expected is 500, and its words stay inside', () => {
    expect(answerToFailure(new Error('hunter2'))).toEqual({
      status: 500,
      description: 'The broker failed to serve the request. Its log says why.',
    });
  });
});
