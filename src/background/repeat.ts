// Runs a pass again and again: the next one begins a pause after the last one ended, so that passes never overlap.
import type { Logger } from '../observability/logger.ts';

export interface RepeatedPass {
  readonly name: string;
  readonly pauseMs: number;
  run(): Promise<void>;
}

export interface RepeatParts {
  readonly sleep: (delayMs: number, signal?: AbortSignal) => Promise<void>;
  readonly log: Logger;
}

/** Runs until `stopping` fires; a pass that fails is logged and does not end it. */
export async function repeat(
  { sleep, log }: RepeatParts,
  pass: RepeatedPass,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    try {
      await pass.run();
    } catch (error) {
      log.warn({ err: error, pass: pass.name }, 'a background pass failed');
    }
    await sleep(pass.pauseMs, stopping).catch(() => undefined);
  }
}
