// Where an operation stands in its course: forwards at one of its steps, or, once it has failed, backwards at what
// undoes one. Pure; the operation's row holds no more than the name.
import type { Step } from '../provisioners/provisioner.ts';

export interface Position {
  /** What is to be run now. */
  readonly step: Step;
  /** Undefined when `step` is the last one. */
  readonly next: Step | undefined;
  /** The first thing to undo if the operation fails now. */
  readonly firstUndo: Step | undefined;
  readonly isUndoing: boolean;
}

/** No step has a name like this. */
const UNDO = 'undo ';

/**
 * A step that a new release has renamed is not found: then all run again, forwards or backwards, which they can, each
 * being idempotent.
 * @returns undefined where there is nothing to run
 */
export function positionIn(
  steps: readonly Step[],
  stepName: string | undefined,
): Position | undefined {
  const isUndoing = stepName?.startsWith(UNDO) ?? false;
  const course = isUndoing ? undoing(steps) : steps;
  const found = course.findIndex(({ name }) => name === stepName);
  const at = Math.max(0, found);
  const step = course[at];
  if (step === undefined) {
    return undefined;
  }
  const [firstUndo] = isUndoing ? [step] : undoing(steps.slice(0, at + 1));
  return { step, next: course[at + 1], firstUndo, isUndoing };
}

/** What was made last is removed first. */
function undoing(steps: readonly Step[]): readonly Step[] {
  return steps
    .toReversed()
    .flatMap(({ name, undo }) =>
      undo === undefined ? [] : [{ name: `${UNDO}${name}`, run: undo }],
    );
}
