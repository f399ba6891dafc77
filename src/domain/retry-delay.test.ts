import { expect, it } from 'vitest';
import { retryDelayMs } from './retry-delay.ts';

it.each([
  [1, 5_000],
  [2, 10_000],
  [3, 20_000],
  [8, 640_000],
  [9, 900_000],
  [10, 900_000],
  [1_000_000, 900_000],
])('after %i failures the next try waits %i ms at the most', (count, delayMs) => {
  expect(retryDelayMs({ count, draw: 0 })).toBe(delayMs);
});

it('what failed together is spread over the last tenth of the delay', () => {
  expect(retryDelayMs({ count: 1, draw: 0.5 })).toBe(4_750);
  expect(retryDelayMs({ count: 9, draw: 0.999_999 })).toBe(810_000);
});

it('a Retry-After is waited for in full, as far as the longest delay goes', () => {
  expect(retryDelayMs({ count: 1, draw: 0.9, retryAfterSeconds: 23 })).toBe(23_000);
  expect(retryDelayMs({ count: 1, draw: 0, retryAfterSeconds: 900 })).toBe(900_000);
  expect(retryDelayMs({ count: 9, draw: 0.9, retryAfterSeconds: 86_400 })).toBe(900_000);
});

it('a Retry-After that is shorter than the delay changes nothing', () => {
  expect(retryDelayMs({ count: 3, draw: 0, retryAfterSeconds: 1 })).toBe(20_000);
  expect(retryDelayMs({ count: 3, draw: 0, retryAfterSeconds: 0 })).toBe(20_000);
});
