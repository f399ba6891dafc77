import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

import { createLogger } from '../observability/logger.ts';
import { Bell } from './bell.ts';
import { repeat } from './repeat.ts';

const lines: string[] = [];
const log = createLogger(
  { level: 'info', format: 'json' },
  { write: (line) => void lines.push(line) },
);

it('goes on after a pass that failed, and pauses between two passes', async () => {
  const stopping = new AbortController();
  const pauses: number[] = [];
  let passes = 0;
  await repeat(
    {
      log,
      sleep: (delayMs) => {
        pauses.push(delayMs);
        return Promise.resolve();
      },
    },
    {
      name: 'sweep',
      pauseMs: 7,
      run: () => {
        passes += 1;
        if (passes === 3) {
          stopping.abort();
        }
        return passes === 1 ? Promise.reject(new Error('the database is away')) : Promise.resolve();
      },
    },
    stopping.signal,
  );
  expect(passes).toBe(3);
  expect(pauses).toEqual([7, 7, 7]);
  expect(lines.join('')).toContain('"pass":"sweep"');
});

it('ends in the middle of a pause', async () => {
  const stopping = new AbortController();
  const paused = Promise.withResolvers<undefined>();
  const ended = repeat(
    {
      log,
      sleep: (delayMs, signal) => {
        paused.resolve(undefined);
        return sleep(delayMs, undefined, { signal });
      },
    },
    { name: 'sweep', pauseMs: 1_000_000, run: () => Promise.resolve() },
    stopping.signal,
  );
  await paused.promise;
  stopping.abort();
  await expect(ended).resolves.toBeUndefined();
});

it('asks a pass that knows when it is due, and not after a failure of it', async () => {
  const stopping = new AbortController();
  const pauses: number[] = [];
  let passes = 0;
  await repeat(
    {
      log,
      sleep: (delayMs) => {
        pauses.push(delayMs);
        return Promise.resolve();
      },
    },
    {
      name: 'expire',
      pauseMs: () => Promise.resolve(passes * 10),
      run: () => {
        passes += 1;
        if (passes === 3) {
          stopping.abort();
        }
        return passes === 2 ? Promise.reject(new Error('the database is away')) : Promise.resolve();
      },
    },
    stopping.signal,
  );
  expect(pauses).toEqual([10, 2_000, 30]);
});

it('is woken out of a pause by its bell, also when that rang before', async () => {
  const stopping = new AbortController();
  const bell = new Bell();
  let passes = 0;
  await repeat(
    { log, sleep: (delayMs, signal) => sleep(delayMs, undefined, { signal }) },
    {
      name: 'finish',
      pauseMs: 1_000_000,
      bell,
      run: () => {
        passes += 1;
        if (passes === 3) {
          stopping.abort();
        } else {
          bell.ring();
        }
        return Promise.resolve();
      },
    },
    stopping.signal,
  );
  expect(passes).toBe(3);
});
