// That a wait ends as soon as it can, and says what was waited for when it cannot.

import { expect, it } from 'vitest';
import { until } from './until.ts';

const LONG_MS = 60_000;

it('asks again while the answer is no or an error, and ends with the first yes', async () => {
  const answers = [() => false, () => Promise.reject(new Error('not yet')), () => true];
  await until({
    what: 'it is so',
    limitMs: LONG_MS,
    isSo: () => answers.shift()?.() ?? Promise.reject(new Error('asked too often')),
  });
  expect(answers).toEqual([]);
});

it('names what was waited for, and the last error as cause, when the time is over', async () => {
  const cause = new Error('refused');
  await expect(
    until({ what: 'it answers', limitMs: 50, isSo: () => Promise.reject(cause) }),
  ).rejects.toMatchObject({ message: 'waited 50 ms in vain until it answers', cause });
});

it('ends at once when it became hopeless', async () => {
  const wait = {
    what: 'it answers',
    limitMs: LONG_MS,
    isSo: () => false,
    isHopeless: () => 'it died',
  };
  await expect(until(wait)).rejects.toThrow('it cannot be any more that it answers: it died');
});
