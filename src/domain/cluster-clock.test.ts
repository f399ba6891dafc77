import { expect, it } from 'vitest';
import { judgeClusterClock } from './cluster-clock.ts';

const at = (seconds: number): Date => new Date(Date.UTC(2026, 4, 4, 3, 2) + seconds * 1000);

// The cluster is asked at 10.0 s and answers at 12.5 s by our clock.
it.each([
  { written: 10, differenceSeconds: 0, isTrusted: true },
  { written: 12, differenceSeconds: 0, isTrusted: true },
  // The second that it names began before it was asked.
  { written: 9, differenceSeconds: 0, isTrusted: true },
  { written: 8, differenceSeconds: -1, isTrusted: true },
  { written: 13, differenceSeconds: 0.5, isTrusted: true },
  { written: 72, differenceSeconds: 59.5, isTrusted: true },
  { written: 73, differenceSeconds: 60.5, isTrusted: false },
  { written: -51, differenceSeconds: -60, isTrusted: true },
  { written: -52, differenceSeconds: -61, isTrusted: false },
  { written: 3_612, differenceSeconds: 3_599.5, isTrusted: false },
])('written at $written s: $differenceSeconds s ahead', ({ written, ...verdict }) => {
  const measured = { askedAt: at(10), answeredAt: at(12.5), written: at(written) };
  expect(judgeClusterClock(measured)).toEqual(verdict);
});

it('exactly a minute ahead is trusted', () => {
  const measured = { askedAt: at(10), answeredAt: at(12), written: at(72) };
  expect(judgeClusterClock(measured)).toEqual({ differenceSeconds: 60, isTrusted: true });
});
