// Runs a pass again and again: the next one begins a pause after the last one ended, so that passes never overlap.
import type { Logger } from '../observability/logger.ts';
import type { Bell } from './bell.ts';

export interface RepeatedPass {
  readonly name: string;
  /** Between two passes; a function is asked after each, for what is driven by the next time at which work is due. */
  readonly pauseMs: number | (() => Promise<number>);
  /** Ends a pause when it is rung. */
  readonly bell?: Bell;
  /** `stopping` fires when the process is to stop. */
  run(stopping: AbortSignal): Promise<void>;
}

export interface RepeatParts {
  readonly sleep: (delayMs: number, signal?: AbortSignal) => Promise<void>;
  readonly log: Logger;
}

/** After a failure of a pass that says itself when it is due: mostly the database is away, and back within seconds. */
const FAILED_PAUSE_MS = 2_000;

/** Runs until `stopping` fires; a pass that fails is logged and does not end it. */
export async function repeat(
  { sleep, log }: RepeatParts,
  pass: RepeatedPass,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    const pauseMs = await runOnce(log, pass, stopping);
    const woken = new AbortController();
    const pause = sleep(pauseMs, AbortSignal.any([stopping, woken.signal])).catch(() => undefined);
    await (pass.bell?.heard(pause) ?? pause);
    woken.abort();
  }
}

/** @returns how long to pause */
async function runOnce(log: Logger, pass: RepeatedPass, stopping: AbortSignal): Promise<number> {
  const { name, pauseMs } = pass;
  try {
    await pass.run(stopping);
    return typeof pauseMs === 'number' ? pauseMs : await pauseMs();
  } catch (error) {
    log.warn({ err: error, pass: name }, 'a background pass failed');
    return typeof pauseMs === 'number' ? pauseMs : FAILED_PAUSE_MS;
  }
}
