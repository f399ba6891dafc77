import { describe, expect, it } from 'vitest';

import { BrokerError, UpstreamError, type UpstreamReason } from '../domain/errors.ts';
import { ClusterClockError } from '../kubernetes/cluster-clock.ts';
import { notRevokedYet, whatToTell } from './cluster-refusals.ts';

function clusterFailure(reason: UpstreamReason, retryAfterSeconds?: number): UpstreamError {
  return new UpstreamError({
    system: 'cluster',
    action: 'create serviceaccounts',
    reason,
    detail: 'https://api.internal.example:6443 said something',
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

describe('what a caller is told of a failing cluster', () => {
  it.each<[UpstreamReason, string, number | undefined]>([
    ['too-many-requests', 'cluster-unavailable', 5],
    ['server-error', 'cluster-unavailable', 5],
    ['unreachable', 'cluster-unavailable', 5],
    ['timed-out', 'cluster-unavailable', 5],
    ['cut', 'cluster-unavailable', 5],
    ['cancelled', 'cluster-unavailable', 5],
    ['unauthorized', 'cluster-refused', undefined],
    ['forbidden', 'cluster-refused', undefined],
    ['not-found', 'cluster-refused', undefined],
    ['conflict', 'cluster-refused', undefined],
    ['invalid', 'cluster-refused', undefined],
    ['tls', 'cluster-refused', undefined],
    ['unexpected-status', 'cluster-refused', undefined],
    ['malformed-answer', 'cluster-refused', undefined],
  ])('%s: %s', (reason, code, retryAfterSeconds) => {
    const told = whatToTell(clusterFailure(reason));
    expect(told).toBeInstanceOf(BrokerError);
    expect(told).toMatchObject({ code, retryAfterSeconds });
    expect((told as BrokerError).message).not.toMatch(/example|6443|said/);
  });

  it('says so where only the clock of the cluster is wrong', () => {
    expect(whatToTell(new ClusterClockError(-3_600))).toMatchObject({
      code: 'cluster-refused',
      message:
        'No credential of the cluster can be handed out: its clock differs too much from the broker’s.',
    });
  });

  it('passes on how long the cluster wants to be left alone', () => {
    expect(whatToTell(clusterFailure('too-many-requests', 42))).toMatchObject({
      retryAfterSeconds: 42,
    });
    expect(notRevokedYet(clusterFailure('too-many-requests', 42))).toMatchObject({
      code: 'not-revoked-yet',
      retryAfterSeconds: 42,
    });
    expect(notRevokedYet(new Error('x'))).toMatchObject({ retryAfterSeconds: 5 });
  });

  it('leaves alone what is no failure of the cluster', () => {
    const database = new UpstreamError({
      system: 'database',
      action: 'read grants',
      reason: 'unreachable',
      detail: 'gone',
    });
    const bug = new TypeError('x is not a function');
    expect(whatToTell(database)).toBe(database);
    expect(whatToTell(bug)).toBe(bug);
  });
});
