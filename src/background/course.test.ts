import { describe, expect, it } from 'vitest';

import type { Step, StepOutcome } from '../provisioners/provisioner.ts';
import { positionIn } from './course.ts';

const done = (): Promise<StepOutcome> => Promise.resolve({ outcome: 'done' });
const make: Step = { name: 'make', run: done, undo: done };
const wait: Step = { name: 'wait', run: done };
const dress: Step = { name: 'dress', run: done, undo: done };
const STEPS = [make, wait, dress];

function at(name: string | undefined) {
  const position = positionIn(STEPS, name);
  return {
    step: position?.step.name,
    next: position?.next?.name,
    firstUndo: position?.firstUndo?.name,
    isUndoing: position?.isUndoing,
  };
}

describe('an operation', () => {
  it.each([
    [undefined, 'make', 'wait', 'undo make'],
    ['make', 'make', 'wait', 'undo make'],
    ['wait', 'wait', 'dress', 'undo make'],
    ['dress', 'dress', undefined, 'undo dress'],
    ['a name of another release', 'make', 'wait', 'undo make'],
  ])('at %s runs %s, then %s, and would be undone from %s', (name, step, next, firstUndo) => {
    expect(at(name)).toEqual({ step, next, firstUndo, isUndoing: false });
  });

  it.each([
    ['undo dress', 'undo dress', 'undo make'],
    ['undo make', 'undo make', undefined],
    ['undo a name of another release', 'undo dress', 'undo make'],
  ])('that is undone at %s runs %s, then %s', (name, step, next) => {
    expect(at(name)).toMatchObject({ step, next, isUndoing: true });
  });

  it('without steps, or without anything to undo, has no position', () => {
    expect(positionIn([], undefined)).toBeUndefined();
    expect(positionIn([wait], 'undo wait')).toBeUndefined();
    expect(positionIn([wait], 'wait')?.firstUndo).toBeUndefined();
  });
});
