import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { InstanceTurns } from './instance-turns.ts';

/** Work that lasts until it is told to end. */
function heldWork() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isAtWork = false;
  return {
    run: async () => {
      isAtWork = true;
      await promise;
    },
    isAtWork: () => isAtWork,
    end: () => resolve(),
  };
}

/** All that can go on has gone on. */
const settled = () => setImmediate();

describe('the turns of an instance', () => {
  it('are taken by two at once, by the others in their order', async () => {
    const turns = new InstanceTurns();
    const works = Array.from({ length: 5 }, heldWork);
    const taken = works.map((work) => turns.take('one', work.run));
    await settled();
    expect(works.map((work) => work.isAtWork())).toEqual([true, true, false, false, false]);
    works[1]?.end();
    await settled();
    expect(works.map((work) => work.isAtWork())).toEqual([true, true, true, false, false]);
    works[2]?.end();
    works[0]?.end();
    await settled();
    expect(works.map((work) => work.isAtWork())).toEqual([true, true, true, true, true]);
    for (const work of works) work.end();
    await Promise.all(taken);
  });

  it('are not waited for by another instance', async () => {
    const turns = new InstanceTurns();
    const works = Array.from({ length: 3 }, heldWork);
    const taken = works.map((work) => turns.take('one', work.run));
    expect(await turns.take('two', () => Promise.resolve('done'))).toBe('done');
    for (const work of works) work.end();
    await Promise.all(taken);
  });

  it('pass on what the work gives and throws, and are given back either way', async () => {
    const turns = new InstanceTurns();
    for (let at = 0; at < 5; at += 1) {
      await expect(turns.take('one', () => Promise.reject(new Error('broken')))).rejects.toThrow(
        'broken',
      );
    }
    expect(await turns.take('one', () => Promise.resolve(7))).toBe(7);
  });

  it('are given up by who may wait no longer, who then has done nothing and holds up nobody', async () => {
    const turns = new InstanceTurns();
    const [first, second, third, fourth] = [heldWork(), heldWork(), heldWork(), heldWork()];
    const works = [first, second, third, fourth];
    const patience = new AbortController();
    const taken = [first, second].map((work) => turns.take('one', work.run));
    const givenUp = turns.take('one', third.run, patience.signal);
    taken.push(turns.take('one', fourth.run));
    patience.abort();
    await expect(givenUp).rejects.toMatchObject({ code: 'concurrent-operation' });
    first.end();
    await settled();
    expect(works.map((work) => work.isAtWork())).toEqual([true, true, false, true]);
    const late = turns.take('one', () => Promise.resolve(), AbortSignal.abort());
    await expect(late).rejects.toMatchObject({ code: 'concurrent-operation' });
    for (const work of works) work.end();
    await Promise.all(taken);
  });
});
