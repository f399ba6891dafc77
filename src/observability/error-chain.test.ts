import { describe, expect, it } from 'vitest';

import { BrokerError, UpstreamError } from '../domain/errors.ts';
import { renderErrorChain } from './error-chain.ts';

describe('an error in the log', () => {
  it('shows each link once: the outer text does not repeat the inner', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const upstream = new UpstreamError(
      {
        system: 'cluster',
        action: 'create serviceaccounts',
        reason: 'unreachable',
        detail: 'connect ECONNREFUSED',
      },
      { cause },
    );
    const error = new BrokerError(
      { code: 'cluster-unavailable', description: 'Try later.', retryAfterSeconds: 5 },
      { cause: upstream },
    );

    expect(renderErrorChain(error)).toEqual({
      type: 'BrokerError',
      message: 'Try later.',
      code: 'cluster-unavailable',
      retryAfterSeconds: 5,
      cause: {
        type: 'UpstreamError',
        message: 'cluster: create serviceaccounts',
        reason: 'unreachable',
        retryable: true,
        cause: {
          type: 'Error',
          message: 'connect ECONNREFUSED',
          code: 'ECONNREFUSED',
          stack: expect.arrayContaining([expect.stringMatching(/^at /)]) as unknown,
        },
      },
    });
  });

  it.each([
    ['failed (inner)', 'failed'],
    ['inner: failed', 'inner: failed'],
    ['other words', 'other words'],
    ['inner', 'see cause'],
  ])('shortens %j to %j', (message, expected) => {
    const cause = new Error(message === 'inner: failed' ? 'nothing alike' : 'inner');

    expect(renderErrorChain(new Error(message, { cause })).message).toBe(expected);
  });

  it('stays bounded: texts, frames, loops and crowds', () => {
    const loop = new Error('x'.repeat(5_000));
    loop.cause = loop;
    const crowd = new AggregateError(
      Array.from({ length: 50 }, () => new Error('no')),
      'all',
    );

    const within = new Error('outer', { cause: loop });
    let deep = new Error('innermost');
    for (let at = 0; at < 100; at += 1) {
      deep = new Error(`level ${at}`, { cause: deep });
    }

    expect(renderErrorChain(loop)).not.toHaveProperty('cause');
    expect(renderErrorChain(within).cause).not.toHaveProperty('cause');
    expect(JSON.stringify(renderErrorChain(deep))).toContain('level 92');
    expect(JSON.stringify(renderErrorChain(deep))).not.toContain('level 91');
    expect(renderErrorChain(loop).message).toHaveLength(1_001);
    expect(renderErrorChain(crowd).errors).toHaveLength(3);
  });

  it.each([
    ['a text', 'thrown', { type: 'string', message: 'thrown' }],
    ['nothing', undefined, { type: 'undefined', message: 'undefined' }],
    [
      'an object',
      { password: 'hunter2' },
      { type: 'object', message: 'a thrown value that is not an error' },
    ],
  ])('takes what is no error: %s', (_, thrown, expected) => {
    expect(renderErrorChain(thrown)).toEqual(expected);
  });
});
