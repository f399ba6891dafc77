// Starts and stops in order. Start: what lies in the data folder, where there is one; listeners (which answer 503); the
// database and what lives in it; background passes. Stop: listeners finish what they serve, while background work is put
// down; connections last, and the sandbox that they led to. Each part of a stop has a limit, and what is cut by it is
// left as a crash would leave it, which the ledger is made for.
import { type RepeatedPass, repeat } from '../background/repeat.ts';
import { closeServer } from '../http/end-connections.ts';
import { removeReplica } from '../storage/replicas.ts';
import type { Composition } from './compose.ts';
import { connect } from './connect.ts';
import { backgroundPasses, beatPass } from './passes.ts';
import { settledWithin } from './settled-within.ts';

/** From the end of an undo to the last byte of its answer. */
const ANSWER_MARGIN_MS = 2_000;

/**
 * Orchestrators kill after 30 s unless told otherwise (Kubernetes, terminationGracePeriodSeconds). With what comes after
 * the drain a stop takes 28 s at most; the default create limit needs 22 s of these.
 */
const MAX_DRAIN_MS = 23_000;

/** For what is left then: a row, and connections that nothing is asked of any more. */
const LEAVE_TIMEOUT_MS = 2_000;

/** Probes are answered at once. */
const PROBES_TIMEOUT_MS = 1_000;

export interface RunningBroker {
  /** URLs with the ports that were really taken. */
  readonly publicUrl: string;
  readonly operatorUrl: string;
  /** Resolves once requests are served; it never rejects, since the attempts do not end. */
  readonly serving: Promise<void>;
  /** Finishes what runs; a repeat waits for the first. */
  readonly stop: () => Promise<void>;
}

/**
 * `passes`: what runs in the background beside the jobs; all there is unless a test says less.
 * @throws Error when the data folder cannot be used, or an address not be listened on; nothing runs then
 */
export async function start(
  composition: Composition,
  passes: readonly RepeatedPass[] = backgroundPasses(composition.broker),
): Promise<RunningBroker> {
  const urls = await open(composition).catch(async (error: unknown) => {
    await composition.sandbox?.stop();
    // Closed as after a stop, so that the next start has nothing to mend. One that could not be opened has nothing to close.
    await composition.broker.db.destroy().catch(() => undefined);
    throw error;
  });
  const serving = connect(composition);
  const drained = new AbortController();
  const work = serving.then(() => runPasses(composition, passes, composition.stopping.signal));
  const beats = serving.then(() =>
    runPasses(composition, [beatPass(composition.broker)], drained.signal),
  );
  let stopped: Promise<void> | undefined;
  return {
    ...urls,
    serving,
    stop: () => (stopped ??= stop(composition, { work, beats, drained })),
  };
}

async function open(
  composition: Composition,
): Promise<Pick<RunningBroker, 'publicUrl' | 'operatorUrl'>> {
  const { publicServer, operatorServer, broker, listen } = composition;
  await openDataFolder(composition);
  // Copies, since the server writes into what it is given and the configuration is frozen.
  const publicUrl = await publicServer.listen({ ...listen.public });
  broker.log.info({ surface: 'public', url: publicUrl }, 'listening');
  const operatorUrl = await operatorServer
    .listen({ ...listen.operator })
    .catch(async (error: unknown) => {
      await publicServer.close();
      throw error;
    });
  broker.log.info({ surface: 'operator', url: operatorUrl }, 'listening');
  return { publicUrl, operatorUrl };
}

/** Another server may come back, a damaged folder does not mend itself: that ends the start. */
export async function openDataFolder({
  embedded,
  sandbox,
}: Pick<Composition, 'embedded' | 'sandbox'>): Promise<void> {
  const opened = await Promise.allSettled([embedded?.open(), sandbox?.start()]);
  for (const each of opened) {
    if (each.status === 'rejected') {
      throw each.reason;
    }
  }
}

async function runPasses(
  { broker, state }: Composition,
  passes: readonly RepeatedPass[],
  ending: AbortSignal,
): Promise<void> {
  if (!state.isServing()) {
    return;
  }
  await Promise.all(passes.map((pass) => repeat(broker, pass, ending)));
}

interface Background {
  readonly work: Promise<void>;
  readonly beats: Promise<void>;
  /** Aborted once nothing is served any more. */
  readonly drained: AbortController;
}

async function stop(composition: Composition, background: Background): Promise<void> {
  const { publicServer, operatorServer, broker, stopping, openClusters } = composition;
  const { createTimeoutMs, undoTimeoutMs } = broker.limits;
  const drainMs = Math.min(createTimeoutMs + undoTimeoutMs + ANSWER_MARGIN_MS, MAX_DRAIN_MS);
  broker.log.info('stopping');
  stopping.abort();
  await Promise.all([
    closeServer(publicServer, drainMs),
    settledWithin(drainMs, putDown(composition, background.work)),
  ]);
  background.drained.abort();
  await settledWithin(LEAVE_TIMEOUT_MS, signOff(composition, background.beats));
  await settledWithin(
    LEAVE_TIMEOUT_MS,
    Promise.all([openClusters.close(), broker.signals.stop(), broker.db.destroy()]),
  );
  await composition.sandbox?.stop();
  await closeServer(operatorServer, PROBES_TIMEOUT_MS);
  broker.log.info('stopped');
}

async function putDown({ broker }: Composition, work: Promise<void>): Promise<void> {
  await work;
  await broker.jobs.stop();
}

/** Best effort: without it the others wait six seconds before they take over what is left. */
async function signOff({ broker, state }: Composition, beats: Promise<void>): Promise<void> {
  await beats;
  if (!state.isServing()) {
    return;
  }
  await removeReplica(broker.db, broker.replicaId).catch((error: unknown) => {
    broker.log.warn({ err: error }, 'this replica could not be signed off');
  });
}
