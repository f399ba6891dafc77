// The very last line of a test run: `N passed, N failed, N skipped`, for people and for programs that read the end of
// a log. It is a reporter beside vitest's own, which says everything else.

import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  /** Skipped, `todo`, and what never ran because the run ended before it. */
  readonly skipped: number;
}

/** What the tally needs to know of one test file. */
export interface FileOutcome {
  /** vitest's words: `passed`, `failed`, `skipped` (also for `todo`), `pending`. */
  readonly testStates: readonly string[];
  /** Failures outside of any test: the file did not load, or a hook of a suite threw. Their tests are `skipped`. */
  readonly errorCount: number;
}

export const EMPTY_TALLY: Tally = { passed: 0, failed: 0, skipped: 0 };

/** Each failure outside of a test, and each error that nobody caught, counts as one failed. */
export function tally(files: readonly FileOutcome[], unhandledErrorCount: number): Tally {
  const states = files.flatMap((file) => file.testStates);
  const passed = states.filter((state) => state === 'passed').length;
  const failed = states.filter((state) => state === 'failed').length;
  const broken = files.reduce((sum, file) => sum + file.errorCount, unhandledErrorCount);
  return { passed, failed: failed + broken, skipped: states.length - passed - failed };
}

/**
 * A run that fails as a whole (the global setup threw, no test was found) has at least one failed, whatever was
 * counted.
 */
export function closingLine(counted: Tally, exitCode: number): string {
  const failed = exitCode === 0 ? counted.failed : Math.max(counted.failed, 1);
  return `${counted.passed} passed, ${failed} failed, ${counted.skipped} skipped`;
}

/** Speaks when the process exits: the other reporters and the global teardown print until then. */
export class ClosingLine implements Reporter {
  #counted = EMPTY_TALLY;

  onInit(): void {
    process.once('exit', (exitCode) => {
      process.stdout.write(`\n${closingLine(this.#counted, exitCode)}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    this.#counted = tally(modules.map(outcomeOf), unhandledErrors.length);
  }
}

function outcomeOf(module: TestModule): FileOutcome {
  const suiteErrors = [...module.children.allSuites()].map((suite) => suite.errors().length);
  return {
    testStates: [...module.children.allTests()].map((test) => test.result().state),
    errorCount: suiteErrors.reduce((sum, count) => sum + count, module.errors().length),
  };
}
