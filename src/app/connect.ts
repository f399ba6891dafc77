// Everything that needs the database before requests can be served. It keeps trying with growing delay, so that the
// order in which broker and database start does not matter.
import type { Broker } from '../broker/broker.ts';
import { loadMarker, type MarkerParts } from '../broker/load-marker.ts';
import { UpstreamError } from '../domain/errors.ts';
import type { Marker } from '../kubernetes/grant-mark.ts';
import { migrate } from '../storage/migrate.ts';
import { beat, forgetReplicas } from '../storage/replicas.ts';
import { SealingError } from '../storage/sealing.ts';
import type { Composition } from './compose.ts';

/** A database that starts beside us is there within a few of these, and one that refuses is not bothered. */
const FIRST_DELAY_MS = 250;

/** Short enough that a database which comes back is in use at once for a person's eye. */
const LONGEST_DELAY_MS = 5_000;

/** Returns when all of it has succeeded, or `stopping` has fired. Never throws: each failure is logged. */
export async function connect(composition: Composition): Promise<void> {
  const { broker, stopping } = composition;
  for (let attempt = 0; !stopping.signal.aborted; attempt += 1) {
    try {
      await connectOnce(composition);
      return;
    } catch (error) {
      const delayMs = Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS);
      tell(broker, error, delayMs);
      await broker.sleep(delayMs, stopping.signal).catch(() => undefined);
    }
  }
}

function tell({ log }: Broker, error: unknown, delayMs: number): void {
  const facts = { err: error, delayMs };
  if (error instanceof UpstreamError) {
    log.warn(facts, 'the database is not ready; trying again');
  } else {
    log.error(facts, 'the start has failed; trying again');
  }
}

async function connectOnce({ broker, embedded, state, drawKey }: Composition): Promise<void> {
  const { db, log, sealer, replicaId, clock, jobs, signals } = broker;
  const applied = await migrate(db);
  for (const migration of applied) {
    log.info({ migration }, 'migrated');
  }
  const marker = await markerOrWhyNot({ sealer, drawKey }, broker);
  if (embedded !== undefined) {
    // What they were doing is taken over now and not once their last beat is old.
    await forgetReplicas(db);
  }
  await beat(db, { replicaId, at: clock() });
  await jobs.start();
  signals.start();
  state.complete(marker);
  const installation = marker instanceof Error ? undefined : marker.installation;
  log.info({ installation, replica: replicaId }, 'ready');
}

/** A key that is lost takes away what needs it, and nothing else (docs/configuration.md, "Environment variables"). */
export async function markerOrWhyNot(
  parts: MarkerParts,
  { db, log }: Broker,
): Promise<Marker | SealingError> {
  try {
    return await loadMarker(db, parts);
  } catch (error) {
    if (error instanceof SealingError) {
      log.error({ err: error }, 'the key of our marks cannot be opened; no binding can be issued');
      return error;
    }
    throw error;
  }
}
