import { describe, expect, it } from 'vitest';
import { UpstreamError, type UpstreamReason } from '../domain/errors.ts';
import { commitOutcomeIsUnknown, databaseFailure } from './failures.ts';

function withCode(code: string, message = 'as the driver says'): Error {
  return Object.assign(new Error(message), { code });
}

const NAMED: readonly (readonly [string, Error, UpstreamReason])[] = [
  ['a refused connection', withCode('ECONNREFUSED'), 'unreachable'],
  ['a name that does not resolve', withCode('ENOTFOUND'), 'unreachable'],
  ['a name server that is away', withCode('EAI_AGAIN'), 'unreachable'],
  ['a host without a route', withCode('EHOSTUNREACH'), 'unreachable'],
  ['a reset connection', withCode('ECONNRESET'), 'cut'],
  ['a broken pipe', withCode('EPIPE'), 'cut'],
  ['a server that starts up', withCode('57P03'), 'unreachable'],
  ['a server that is shut down', withCode('57P01'), 'cut'],
  ['a server that crashed', withCode('57P02'), 'cut'],
  ['a connection exception', withCode('08006'), 'cut'],
  ['a transaction that idled', withCode('25P03'), 'cut'],
  ['too many connections', withCode('53300'), 'too-many-requests'],
  ['a full disk', withCode('53100'), 'server-error'],
  ['a standby', withCode('25006'), 'server-error'],
  ['a deadlock', withCode('40P01'), 'server-error'],
  ['an input or output error', withCode('58030'), 'server-error'],
  ['an internal error', withCode('XX001'), 'server-error'],
  ['the time limit of a statement', withCode('57014'), 'timed-out'],
  ['the time limit of a lock', withCode('55P03'), 'timed-out'],
  ['a wrong password', withCode('28P01'), 'unauthorized'],
  ['a database that is not there', withCode('3D000'), 'not-found'],
  ['a table that is not there', withCode('42P01'), 'not-found'],
  ['a schema that is not there', withCode('3F000'), 'not-found'],
  ['a certificate that does not convince', withCode('SELF_SIGNED_CERT_IN_CHAIN'), 'tls'],
  ['a server without TLS', new Error('The server does not support SSL connections'), 'tls'],
  ['a pool in full use', new Error('timeout exceeded when trying to connect'), 'timed-out'],
  ['an end in the middle', new Error('Connection terminated unexpectedly'), 'cut'],
  ['a silent server', new Error('Query read timeout'), 'timed-out'],
  ['a slow handshake', new Error('Connection terminated due to connection timeout'), 'timed-out'],
  ['a closed pool', new Error('Cannot use a pool after calling end on the pool'), 'cancelled'],
];

describe('a failure of the database', () => {
  it.each(NAMED)('is named: %s', (_, error, reason) => {
    const failure = databaseFailure(error, 'read rows');

    expect(failure).toBeInstanceOf(UpstreamError);
    expect(failure).toMatchObject({
      system: 'database',
      action: 'read rows',
      reason,
      cause: error,
    });
  });

  it.each([
    ['a unique violation', withCode('23505')],
    ['a check violation', withCode('23514')],
    ['a syntax error', withCode('42601')],
    ['a fault of our own', new TypeError('undefined is not a function')],
  ])('is not: %s', (_, error) => {
    expect(databaseFailure(error, 'write rows')).toBe(error);
  });

  it('is named once', () => {
    const failure = databaseFailure(withCode('ECONNRESET'), 'commit transaction');

    expect(databaseFailure(failure, 'read rows')).toBe(failure);
    expect(databaseFailure('not an error', 'read rows')).toBe('not an error');
  });

  it('tells every address that was tried', () => {
    const error = Object.assign(
      new AggregateError(
        [new Error('connect ::1:5432'), new Error('connect 127.0.0.1:5432')],
        'none was reached',
      ),
      { code: 'ECONNREFUSED' },
    );

    expect(databaseFailure(error, 'open connection')).toMatchObject({
      reason: 'unreachable',
      message: 'database: open connection: connect ::1:5432; connect 127.0.0.1:5432',
    });
  });
});

describe('the outcome of a commit', () => {
  it.each([
    ['commit transaction', withCode('ECONNRESET')],
    ['commit transaction', withCode('57P01')],
    ['commit transaction', new Error('Query read timeout')],
    ['commit transaction', withCode('ETIMEDOUT')],
    ['commit statement', new Error('Connection terminated unexpectedly')],
  ] as const)('is open after %s: %s', (action, error) => {
    expect(commitOutcomeIsUnknown(databaseFailure(error, action))).toBe(true);
  });

  it.each([
    ['commit statement', withCode('57014')],
    ['commit transaction', withCode('40001')],
    ['commit transaction', withCode('23503')],
    ['write rows', withCode('ECONNRESET')],
    ['begin transaction', withCode('ECONNRESET')],
    ['open connection', new Error('timeout exceeded when trying to connect')],
  ] as const)('is known after %s: %s', (action, error) => {
    expect(commitOutcomeIsUnknown(databaseFailure(error, action))).toBe(false);
  });

  it('is not asked of the cluster', () => {
    const cut = new UpstreamError({
      system: 'cluster',
      action: 'commit something',
      reason: 'cut',
      detail: 'x',
    });

    expect(commitOutcomeIsUnknown(cut)).toBe(false);
  });
});
