// `serve`: runs the broker until SIGTERM or SIGINT, then finishes what runs. A second signal ends it at once.
import { compose } from '../compose.ts';
import { configured } from '../configured.ts';
import { EXIT_DONE, EXIT_FAILED, EXIT_USAGE } from '../exit-status.ts';
import { start } from '../lifecycle.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

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
  const stopped = firstSignal();
  try {
    const running = await start(composition);
    const signal = await stopped;
    log.info({ signal }, 'stopping on a signal');
    await running.stop();
    endWithoutStragglers();
    return EXIT_DONE;
  } catch (error) {
    log.fatal({ err: error }, 'the broker cannot run');
    return EXIT_FAILED;
  }
}

/**
 * Ctrl-C reaches npm and this process, and npm passes its own on: what comes within this time of the first signal is
 * that signal once more.
 */
const SAME_SIGNAL_MS = 500;

/** A call that was cut off may wait for a cluster for longer than anybody waits for this process. */
const STRAGGLERS_MS = 500;

/** Node ends once nothing is left to wait for; what is left by then has lost its listener and its database. */
function endWithoutStragglers(): void {
  // oxlint-disable-next-line unicorn/no-process-exit -- everything that may end in order has ended
  setTimeout(() => process.exit(), STRAGGLERS_MS).unref();
}

/** One of either kind; soon after it Node's own handling is back, by which the next one of any kind ends the process. */
function firstSignal(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const letGo = (): void => {
    for (const each of SIGNALS) {
      process.off(each, take);
    }
  };
  const take = (signal: NodeJS.Signals): void => {
    resolve(signal);
    setTimeout(letGo, SAME_SIGNAL_MS).unref();
  };
  for (const each of SIGNALS) {
    process.on(each, take);
  }
  return promise;
}
