// Waits for a condition by asking again and again; the one place in the tests that owns a timer for it.

import { setTimeout as pause } from 'node:timers/promises';

export interface Wait {
  /** Completes the sentence "waited in vain until …". */
  readonly what: string;
  readonly limitMs: number;
  /** True ends the wait; false and a thrown error are asked again. */
  readonly isSo: () => boolean | Promise<boolean>;
  /** A reason ends the wait at once with an error; for what can no longer happen. */
  readonly isHopeless?: () => string | null;
}

/** Short against anything that is waited for, long against the cost of asking a local process. */
const ASK_EVERY_MS = 25;

/** Throws an error that names what was waited for, with the last error as its cause. */
export async function until(wait: Wait): Promise<void> {
  const deadline = performance.now() + wait.limitMs;
  let lastFault: unknown;
  for (;;) {
    try {
      if (await wait.isSo()) return;
      lastFault = undefined;
    } catch (fault) {
      lastFault = fault;
    }
    const reason = wait.isHopeless?.() ?? null;
    if (reason !== null) {
      throw new Error(`it cannot be any more that ${wait.what}: ${reason}`, { cause: lastFault });
    }
    if (performance.now() > deadline) {
      throw new Error(`waited ${wait.limitMs} ms in vain until ${wait.what}`, { cause: lastFault });
    }
    await pause(ASK_EVERY_MS);
  }
}
