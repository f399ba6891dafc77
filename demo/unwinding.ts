// What is to be undone at the end, however the end comes: the last thing made goes first, and what cannot be undone
// does not keep the rest.

import type { Narration } from './narration.ts';

export interface Undo {
  readonly title: string;
  readonly run: () => Promise<void>;
}

export interface Started<T> {
  readonly what: T;
  readonly undo: Undo;
}

export class Unwinding {
  readonly #undos: Undo[] = [];

  push(undo: Undo): void {
    this.#undos.push(undo);
  }

  /** For what the story itself has undone. */
  drop(undo: Undo): void {
    const at = this.#undos.indexOf(undo);
    if (at !== -1) this.#undos.splice(at, 1);
  }

  /** @returns whether all of it could be undone; what could not has been told */
  async unwind(narration: Narration): Promise<boolean> {
    if (this.#undos.length > 0) narration.heading('The end');
    let isClean = true;
    for (let undo = this.#undos.pop(); undo !== undefined; undo = this.#undos.pop()) {
      isClean = (await undone(undo, narration)) && isClean;
    }
    return isClean;
  }
}

async function undone({ title, run }: Undo, narration: Narration): Promise<boolean> {
  try {
    await narration.step(title, run);
    return true;
  } catch (error) {
    narration.failure(error);
    return false;
  }
}
