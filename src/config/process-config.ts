// The one place that reads this process's environment.
import { readFileSync } from 'node:fs';
import { type ConfigResult, readConfig } from './read-config.ts';

export function readProcessConfig(): ConfigResult {
  return readConfig(process.env, (path) => readFileSync(path, 'utf8'));
}
