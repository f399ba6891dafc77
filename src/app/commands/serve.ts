// `serve`: runs the broker until SIGTERM or SIGINT, then finishes what runs. A second signal ends it at once.
import { compose } from '../compose.ts';
import { EXIT_DONE, EXIT_FAILED } from '../exit-status.ts';
import { start } from '../lifecycle.ts';
import { type Prepared, prepare } from '../prepare.ts';
import { tellClosedOperators } from '../tell-closed-operators.ts';
import { tellEmbedded } from '../tell-embedded.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export async function serveCommand(): Promise<number> {
  const prepared = await prepare();
  if (typeof prepared === 'number') {
    return prepared;
  }
  try {
    return await serve(prepared);
  } finally {
    prepared.dataFolder?.lock.release();
  }
}

async function serve({ config, kept, warnings, dataFolder }: Prepared): Promise<number> {
  const composition = compose(config);
  const { log } = composition.broker;
  for (const warning of warnings) {
    log.warn(warning);
  }
  tellClosedOperators(log, config);
  const ended = Promise.race([
    firstSignal(),
    ...(dataFolder === undefined ? [] : [dataFolder.lock.lost.then(() => LOCK_LOST)]),
  ]);
  try {
    const running = await start(composition);
    tellEmbedded(log, { config, kept });
    const { commandSecret } = composition;
    if (commandSecret !== undefined) {
      const addresses = { address: running.operatorUrl, publicAddress: running.publicUrl };
      dataFolder?.lock.tellAddresses(addresses, commandSecret);
    }
    const reason = await ended;
    if (reason === LOCK_LOST) {
      log.fatal('the lock of the data folder was taken away; another process may be writing there');
    } else {
      log.info({ signal: reason }, 'stopping on a signal');
    }
    await running.stop();
    endWithoutStragglers();
    return reason === LOCK_LOST ? EXIT_FAILED : EXIT_DONE;
  } catch (error) {
    log.fatal({ err: error }, 'the broker cannot run');
    return EXIT_FAILED;
  }
}

const LOCK_LOST = 'lock lost';

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
