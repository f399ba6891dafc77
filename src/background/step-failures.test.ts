import { describe, expect, it } from 'vitest';

import {
  BrokerError,
  UpstreamError,
  type UpstreamReason,
  type UpstreamSystem,
} from '../domain/errors.ts';
import { stepFailure } from './step-failures.ts';

function failure(reason: UpstreamReason, system: UpstreamSystem = 'cluster') {
  return stepFailure(
    new UpstreamError({
      system,
      action: 'get namespaces',
      reason,
      detail: 'connect ECONNREFUSED 10.1.2.3:6443',
    }),
  );
}

describe('a step that failed', () => {
  it.each<[UpstreamReason, string, string]>([
    ['unreachable', 'repeat', 'The cluster cannot be reached.'],
    ['timed-out', 'repeat', 'The cluster does not answer in time.'],
    ['cut', 'repeat', 'The cluster cuts the connection.'],
    ['cancelled', 'repeat', 'The cluster did not answer before the attempt was stopped.'],
    ['too-many-requests', 'repeat', 'The cluster is too busy.'],
    ['server-error', 'repeat', 'The cluster reports an internal error.'],
    ['unauthorized', 'abandon', 'The cluster does not accept the credentials of the kubeconfig.'],
    ['forbidden', 'abandon', 'The cluster denies a right that the kubeconfig needs.'],
    ['tls', 'abandon', 'The cluster has a certificate that is not trusted.'],
    ['malformed-answer', 'abandon', 'The cluster does not answer as a Kubernetes API server.'],
  ])('by %s: %s, and names no host', (reason, verdict, description) => {
    expect(failure(reason)).toEqual({ verdict, description });
  });

  it.each<[UpstreamReason, string, string]>([
    ['unreachable', 'repeat', 'The control plane cannot be reached.'],
    ['timed-out', 'repeat', 'The control plane does not answer in time.'],
    ['unauthorized', 'repeat', 'The control plane does not accept the credentials of the broker.'],
    ['forbidden', 'repeat', 'The control plane denies a right that the broker needs.'],
    ['not-found', 'repeat', 'The control plane does not know an object that must be there.'],
    ['malformed-answer', 'repeat', 'The control plane does not answer as a Kubernetes API server.'],
    ['invalid', 'abandon', 'The control plane rejects a request as invalid.'],
  ])('at the control plane by %s: %s', (reason, verdict, description) => {
    expect(failure(reason, 'control-plane')).toEqual({ verdict, description });
  });

  it('ends the operation with the words of a refusal', () => {
    const error = new BrokerError({ code: 'invalid-parameters', description: 'lacks rights' });
    expect(stepFailure(error)).toEqual({ verdict: 'abandon', description: 'lacks rights' });
  });

  it('is repeated after a bug, and says nothing of it', () => {
    expect(stepFailure(new TypeError('secret-host is undefined'))).toEqual({
      verdict: 'repeat',
      description: 'An internal error occurred; it is tried again.',
    });
  });
});
