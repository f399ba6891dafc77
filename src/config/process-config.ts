// The one place that reads this process's environment.
import { readFileSync } from 'node:fs';
import type { Judges } from './judges.ts';
import { type ConfigResult, readConfig, type ReadingOptions } from './read-config.ts';

export function readProcessConfig(options: Judges & ReadingOptions): ConfigResult {
  return readConfig(process.env, (path) => readFileSync(path, 'utf8'), options);
}
