// The configuration of this process, or its faults on standard error.
import type { Config } from '../config/config.ts';
import { formatFaults } from '../config/faults.ts';
import { readProcessConfig } from '../config/process-config.ts';

export interface Configured {
  readonly config: Config;
  /** For the log, once there is one. */
  readonly warnings: readonly string[];
}

/** @returns undefined after all faults, and the warnings, were written at once; the exit status is then 2 */
export function configured(): Configured | undefined {
  const result = readProcessConfig();
  if (result.ok) {
    return result;
  }
  // A misspelt name is why its setting is missing: without the warning the fault would puzzle whoever set it.
  process.stderr.write(`${[formatFaults(result.faults), ...result.warnings].join('\n')}\n`);
  return undefined;
}
