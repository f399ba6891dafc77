// A broker for one piece of work: composed as `serve` does it, without listeners and without background passes. It takes
// part in the ledger as a replica of its own, so that the others leave it what it has claimed.
import { setTimeout as sleep } from 'node:timers/promises';
import { repeat } from '../background/repeat.ts';
import type { Broker } from '../broker/broker.ts';
import type { Config } from '../config/config.ts';
import { createLogger } from '../observability/logger.ts';
import { schemaIsCurrent } from '../storage/migrate.ts';
import { beat, forgetReplicas, removeReplica } from '../storage/replicas.ts';
import { compose, type Composition } from './compose.ts';
import { markerOrWhyNot } from './connect.ts';
import { openDataFolder } from './lifecycle.ts';
import { beatPass } from './passes.ts';

/** The message is a sentence for whoever gave the command. */
export class NotMigratedError extends Error {
  constructor() {
    super(
      'The schema of the database is not current. Run the command migrate, or start the broker, first.',
    );
    this.name = 'NotMigratedError';
  }
}

/** @throws NotMigratedError; UpstreamError while the database is away; what the work throws */
export async function withoutListeners<T>(
  config: Config,
  work: (broker: Broker) => Promise<T>,
): Promise<T> {
  const composition = compose(config, { log: logOf(config) });
  const { broker } = composition;
  const ended = new AbortController();
  let beats = Promise.resolve();
  try {
    await takePart(composition);
    beats = repeat(broker, beatPass(broker), ended.signal);
    return await work(broker);
  } finally {
    ended.abort();
    await beats;
    await leave(composition);
  }
}

/** Standard output is for what the command says. */
function logOf({ logLevel, logFormat }: Config) {
  const format = logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json');
  const sink = { write: (line: string) => void process.stderr.write(line) };
  return createLogger({ level: logLevel, format }, sink);
}

async function takePart(composition: Composition): Promise<void> {
  const { broker, embedded, state, drawKey } = composition;
  const { db, sealer, replicaId, clock } = broker;
  await openDataFolder(composition);
  if (!(await schemaIsCurrent(db))) {
    throw new NotMigratedError();
  }
  state.complete(await markerOrWhyNot({ sealer, drawKey }, broker));
  if (embedded !== undefined) {
    await forgetReplicas(db);
  }
  await beat(db, { replicaId, at: clock() });
}

/** The rest is for a cluster that holds a connection. */
const LEAVE_TIMEOUT_MS = 2_000;

/** Best effort: what is left of it is what a crash would leave. */
async function leave({ broker, openClusters, sandbox }: Composition): Promise<void> {
  await removeReplica(broker.db, broker.replicaId).catch(() => undefined);
  await Promise.race([openClusters.close(), sleep(LEAVE_TIMEOUT_MS, undefined, { ref: false })]);
  await broker.db.destroy();
  await sandbox?.stop();
}
