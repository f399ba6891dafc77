// `check-config`: prints the configuration that a start would run with, secrets hidden, or all its faults. It makes,
// opens and connects to nothing.
import { showConfig } from '../../config/show-config.ts';
import { configured } from '../configured.ts';
import { EXIT_DONE, EXIT_USAGE } from '../exit-status.ts';

export function checkConfigCommand(): Promise<number> {
  const settings = configured({ withStandIns: true });
  if (settings === undefined) {
    return Promise.resolve(EXIT_USAGE);
  }
  process.stdout.write(showConfig(settings.config));
  for (const warning of settings.warnings) {
    process.stderr.write(`${warning}\n`);
  }
  return Promise.resolve(EXIT_DONE);
}
