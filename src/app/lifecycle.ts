// Starts and stops in order. Start: listeners (which answer 503), then the database and what lives in it, then
// background passes. Stop: listeners, which finish what they serve; then background; connections last.
import { repeat } from '../background/repeat.ts';
import { removeReplica } from '../storage/replicas.ts';
import type { Composition } from './compose.ts';
import { connect } from './connect.ts';
import { backgroundPasses } from './passes.ts';

export interface RunningBroker {
  /** URLs with the ports that were really taken. */
  readonly publicUrl: string;
  readonly operatorUrl: string;
  /** Resolves once requests are served; it never rejects, since the attempts do not end. */
  readonly serving: Promise<void>;
  /** Finishes what runs; a repeat waits for the first. */
  readonly stop: () => Promise<void>;
}

/** @throws Error when an address cannot be listened on; nothing runs then */
export async function start(composition: Composition): Promise<RunningBroker> {
  const { publicServer, operatorServer, broker, listen } = composition;
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
  const serving = connect(composition);
  const background = serving.then(() => runPasses(composition));
  let stopped: Promise<void> | undefined;
  return {
    publicUrl,
    operatorUrl,
    serving,
    stop: () => (stopped ??= stop(composition, background)),
  };
}

async function runPasses({ broker, state, stopping }: Composition): Promise<void> {
  if (!state.isServing()) {
    return;
  }
  const passes = backgroundPasses(broker);
  await Promise.all(passes.map((pass) => repeat(broker, pass, stopping.signal)));
}

async function stop(composition: Composition, background: Promise<void>): Promise<void> {
  const { publicServer, operatorServer, broker, stopping, openClusters, state } = composition;
  broker.log.info('stopping');
  await publicServer.close();
  stopping.abort();
  await background;
  await broker.jobs.stop();
  if (state.isServing()) {
    // Best effort: without it the others wait six seconds before they take over what is left.
    await removeReplica(broker.db, broker.replicaId).catch((error: unknown) => {
      broker.log.warn({ err: error }, 'this replica could not be signed off');
    });
  }
  await openClusters.close();
  await broker.db.destroy();
  await operatorServer.close();
  broker.log.info('stopped');
}
