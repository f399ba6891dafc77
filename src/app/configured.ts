// The configuration of this process, or its faults on standard error.
import { parameterSchemaFault } from '../broker/parameter-rules.ts';
import type { Config } from '../config/config.ts';
import type { KeptSecretName } from '../config/environment.ts';
import { formatFaults } from '../config/faults.ts';
import type { Judges } from '../config/judges.ts';
import { readProcessConfig } from '../config/process-config.ts';
import type { ReadingOptions } from '../config/read-config.ts';
import { kubeconfigFault } from '../kubernetes/read-kubeconfig.ts';
import { databaseUrlFault } from '../storage/postgres.ts';

export interface Configured {
  readonly config: Config;
  /** For the log, once there is one. */
  readonly warnings: readonly string[];
  /** Secrets that came from the data folder, or are to be made there. */
  readonly kept: readonly KeptSecretName[];
}

/** Those who know: the driver of the database, the compiler of schemas, and the reader of kubeconfigs. */
export const JUDGES: Judges = {
  databaseUrl: databaseUrlFault,
  parameterSchema: parameterSchemaFault,
  kubeconfig: kubeconfigFault,
};

/** @returns undefined after all faults, and the warnings, were written at once; the exit status is then 2 */
export function configured(options: ReadingOptions = {}): Configured | undefined {
  const result = readProcessConfig({ ...JUDGES, ...options });
  if (result.ok) {
    return result;
  }
  // A misspelt name is why its setting is missing: without the warning the fault would puzzle whoever set it.
  process.stderr.write(`${[formatFaults(result.faults), ...result.warnings].join('\n')}\n`);
  return undefined;
}
