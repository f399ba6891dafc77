// `serve`: runs the broker until SIGTERM or SIGINT, then finishes what runs. A second signal ends it at once.
import { once } from 'node:events';
import { compose } from '../compose.ts';
import { configured } from '../configured.ts';
import { start } from '../lifecycle.ts';

const EXIT_DONE = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

export async function serveCommand(): Promise<number> {
  const settings = configured();
  if (settings === undefined) {
    return EXIT_USAGE;
  }
  const composition = compose(settings.config);
  const { log } = composition.broker;
  for (const warning of settings.warnings) {
    log.warn(warning);
  }
  const stopped = signalled();
  try {
    const running = await start(composition);
    const signal = await stopped;
    log.info({ signal }, 'stopping on a signal');
    await running.stop();
    return EXIT_DONE;
  } catch (error) {
    log.fatal({ err: error }, 'the broker cannot run');
    return EXIT_FAILED;
  }
}

async function signalled(): Promise<string> {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  return await Promise.race(
    signals.map(async (signal) => {
      await once(process, signal);
      return signal;
    }),
  );
}
