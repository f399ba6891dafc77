// Forgets what ended a day ago: grants and their bindings, deleted instances, operations that others have followed.
// Events stay, since what operators did is to be known for longer.
import type { Broker } from '../broker/broker.ts';
import { addMs } from '../domain/clock.ts';
import {
  type Prune,
  pruneBindings,
  pruneEarlierGrants,
  pruneInstances,
  pruneOperations,
  pruneReplicas,
} from '../storage/prune.ts';

/**
 * A row precedes its objects and outlives them by a day, by which a restored database is known
 * (docs/decisions/a-restored-database-is-confirmed.md); and the outcome of a deletion can be asked for as long
 * (docs/api.md, "How an operation goes").
 */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** Deletes in some tens of milliseconds, so that nobody waits for a lock of it. */
const BATCH = 500;

/** A pass ends some time: the rest, of an installation that was down for weeks, goes in the next ones. */
const BATCHES_A_PASS = 100;

/** How many rows went. */
export interface PruneReport {
  readonly grants: number;
  readonly bindings: number;
  readonly instances: number;
  readonly operations: number;
}

/** A repeat, or the same on another replica at the same time, finds what is left. */
export async function pruneHistory(broker: Broker): Promise<PruneReport> {
  const before = addMs(broker.clock(), -KEPT_MS);
  const earlier = await pruneAll(broker, pruneEarlierGrants, before);
  const bindings = await pruneAll(broker, pruneBindings, before);
  const instances = await pruneAll(broker, pruneInstances, before);
  const operations = await pruneAll(broker, pruneOperations, before);
  await pruneReplicas(broker.db, before);
  return { grants: earlier + bindings, bindings, instances, operations };
}

async function pruneAll({ db }: Broker, prune: Prune, before: Date): Promise<number> {
  let total = 0;
  for (let batch = 0; batch < BATCHES_A_PASS; batch += 1) {
    const gone = await prune(db, { before, limit: BATCH });
    total += gone;
    if (gone < BATCH) {
      break;
    }
  }
  return total;
}
