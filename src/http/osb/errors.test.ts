import { describe, expect, it } from 'vitest';

import { BrokerError, type BrokerErrorCode, UpstreamError } from '../../domain/errors.ts';
import { answerToFailure } from './errors.ts';

/** Of docs/api.md, "What holds for all OSB routes", and of OSB 2.17, Service Broker Errors. */
const STATUSES: Readonly<Record<BrokerErrorCode, readonly [number, string | undefined]>> = {
  'malformed-request': [400, undefined],
  'unknown-plan': [400, undefined],
  'invalid-parameters': [400, undefined],
  'instance-unusable': [400, undefined],
  'expiration-out-of-bounds': [400, undefined],
  'binding-limit-reached': [400, undefined],
  'binding-not-supported': [400, 'BindingNotSupported'],
  'instance-not-found': [404, undefined],
  'binding-not-found': [404, undefined],
  'instance-conflict': [409, undefined],
  'binding-conflict': [409, undefined],
  'cluster-answers': [409, undefined],
  'nothing-to-retry': [409, undefined],
  'instance-gone': [410, undefined],
  'binding-gone': [410, undefined],
  'async-required': [422, 'AsyncRequired'],
  'concurrent-operation': [422, 'ConcurrencyError'],
  'maintenance-info-conflict': [422, 'MaintenanceInfoConflict'],
  'update-not-supported': [422, 'UpdateNotSupported'],
  'instance-not-updateable': [422, 'InstanceNotUpdateable'],
  'other-cluster': [502, undefined],
  'cluster-refused': [502, undefined],
  'create-limit-passed': [503, undefined],
  'not-revoked-yet': [503, undefined],
  'cluster-unavailable': [503, undefined],
};

/** What is said besides of an update that is refused (C98). */
const LEFT: Readonly<Record<string, object>> = {
  'update-not-supported': { instance_usable: true, update_repeatable: false },
  'instance-not-updateable': { instance_usable: false, update_repeatable: false },
};

describe('a failure', () => {
  it.each(Object.entries(STATUSES))('of the broker, %s', (code, [status, error]) => {
    const description = 'A sentence for the user.';
    const answer = answerToFailure(new BrokerError({ code: code as BrokerErrorCode, description }));

    expect(answer).toEqual({
      status,
      ...(error === undefined ? {} : { error }),
      ...(status === 410 ? {} : { description }),
      ...(status === 503 ? { headers: { 'Retry-After': '5' } } : {}),
      ...LEFT[code],
    });
  });

  it('that knows when to come back says so', () => {
    const answer = answerToFailure(
      new BrokerError({ code: 'cluster-unavailable', description: 'x', retryAfterSeconds: 42 }),
    );

    expect(answer.headers).toEqual({ 'Retry-After': '42' });
  });

  it.each([
    ['that passes', 'unreachable'],
    ['that an operator must see to', 'unauthorized'],
    ['whose schema is not migrated', 'not-found'],
    ['whose certificate does not convince', 'tls'],
  ] as const)('KEB defect 15: of a database %s is 503; its words stay inside', (_, reason) => {
    const detail = 'connect ECONNREFUSED 10.0.0.7:5432';
    const answer = answerToFailure(
      new UpstreamError({
        system: 'database',
        action: 'read grants',
        reason,
        detail,
      }),
    );

    expect(answer).toEqual({
      status: 503,
      description: 'The broker cannot reach its database. Try again later.',
      headers: { 'Retry-After': '5' },
    });
  });

  it.each([
    [
      'of a statement',
      Object.assign(new Error('column "hunter2" does not exist'), { code: '42703' }),
    ],
    [
      'of a cluster that no verb has put into words',
      new UpstreamError({
        system: 'cluster',
        action: 'get namespaces',
        reason: 'unreachable',
        detail: 'hunter2.example.org',
      }),
    ],
    ['of the program', new TypeError('hunter2 is not a function')],
    [
      'of another system, with a status of its own',
      Object.assign(new Error('hunter2'), { statusCode: 404, code: 'UND_ERR_RESPONSE' }),
    ],
    ['that is no error', 'hunter2'],
    ['that is nothing', undefined],
  ])('%s is 500 and says nothing', (_, error) => {
    const answer = answerToFailure(error);

    expect(answer.status).toBe(500);
    expect(JSON.stringify(answer)).not.toContain('hunter2');
  });
});
