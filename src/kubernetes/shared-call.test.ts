import { describe, expect, it } from 'vitest';

import { SharedCall } from './shared-call.ts';

interface Held {
  readonly call: SharedCall<string>;
  readonly answer: (text: string) => void;
  readonly signal: () => AbortSignal | undefined;
}

function hold(): Held {
  const { promise, resolve } = Promise.withResolvers<string>();
  let given: AbortSignal | undefined;
  const call = new SharedCall('get namespaces', (signal) => {
    given = signal;
    return promise;
  });
  return { call, answer: resolve, signal: () => given };
}

const cancelled = { system: 'cluster', action: 'get namespaces', reason: 'cancelled' };

describe('a shared call', () => {
  it('ends for the one who goes, and goes on for those who stay', async () => {
    const { call, answer, signal } = hold();
    const leave = new AbortController();
    const gone = call.outcome(leave.signal);
    const stays = call.outcome(undefined);
    leave.abort();
    await expect(gone).rejects.toMatchObject(cancelled);
    expect([call.isAbandoned, signal()?.aborted]).toEqual([false, false]);
    answer('yes');
    expect(await stays).toBe('yes');
    expect(await call.outcome(undefined)).toBe('yes');
  });

  it('is given up once everybody has gone', async () => {
    const { call, signal } = hold();
    const leave = new AbortController();
    const waiting = [call.outcome(leave.signal), call.outcome(leave.signal)];
    leave.abort();
    for (const one of waiting) await expect(one).rejects.toMatchObject(cancelled);
    expect([call.isAbandoned, signal()?.aborted]).toEqual([true, true]);
  });

  it('is not given up by those who have waited to its end', async () => {
    const { call, answer } = hold();
    const waiting = call.outcome(undefined);
    expect(call.isSettled).toBe(false);
    answer('yes');
    await waiting;
    expect([call.isSettled, call.isAbandoned]).toEqual([true, false]);
  });

  it('fails for all with its own failure', async () => {
    const call = new SharedCall('get namespaces', () => Promise.reject(new Error('no')));
    const outcomes = await Promise.allSettled([call.outcome(undefined), call.outcome(undefined)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(call.outcome(undefined)).rejects.toThrow('no');
  });

  it('is not waited for by whoever has gone before', async () => {
    const { call } = hold();
    await expect(call.outcome(AbortSignal.abort())).rejects.toMatchObject(cancelled);
  });
});
