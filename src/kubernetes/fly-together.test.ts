import { describe, expect, it, vi } from 'vitest';

import { flyTogether } from './fly-together.ts';

/** A call that only its signal ends. */
function hanging(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('cut off')));
  });
}

describe('calls that fly together', () => {
  it('give their results in order', async () => {
    const results = await flyTogether(undefined, () => [Promise.resolve('a'), Promise.resolve(1)]);
    expect(results).toEqual(['a', 1]);
  });

  it('fail as the first of them did, after all have settled', async () => {
    const slow = Promise.withResolvers<void>();
    let isSettled = false;
    const flight = flyTogether(undefined, () => [
      Promise.reject(new Error('the cause')),
      slow.promise.then(() => {
        isSettled = true;
        throw new Error('a consequence');
      }),
    ]);
    slow.resolve();
    await expect(flight).rejects.toThrow('the cause');
    expect(isSettled).toBe(true);
  });

  it('are cut off where they do not settle by themselves after a failure', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let isCut = false;
      const flight = flyTogether(undefined, ({ signal }) => [
        Promise.reject(new Error('the cause')),
        hanging(signal).finally(() => {
          isCut = true;
        }),
      ]);
      const failure = flight.catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(900);
      expect(isCut).toBe(false);
      await vi.advanceTimersByTimeAsync(100);
      expect(isCut).toBe(true);
      expect(await failure).toEqual(new Error('the cause'));
    } finally {
      vi.useRealTimers();
    }
  });

  it('are cut off at once when the caller gives up', async () => {
    const caller = new AbortController();
    const flight = flyTogether(caller.signal, ({ signal }) => [hanging(signal), hanging(signal)]);
    caller.abort();
    await expect(flight).rejects.toThrow('cut off');
  });

  it('know when one of them has failed', async () => {
    const seen: boolean[] = [];
    const failing = Promise.withResolvers<never>();
    const flight = flyTogether(undefined, ({ hasFailed }) => [
      failing.promise,
      (async () => {
        seen.push(hasFailed());
        failing.reject(new Error('the cause'));
        await failing.promise.catch(() => undefined);
        await Promise.resolve();
        seen.push(hasFailed());
      })(),
    ]);
    await expect(flight).rejects.toThrow('the cause');
    expect(seen).toEqual([false, true]);
  });
});
