// Everything that needs the database before requests can be served. It keeps trying with growing delay, so that the
// order in which broker and database start does not matter.
import { loadMarker } from '../broker/load-marker.ts';
import { migrate } from '../storage/migrate.ts';
import { beat } from '../storage/replicas.ts';
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
      broker.log.warn({ err: error, delayMs }, 'the database is not ready; trying again');
      await broker.sleep(delayMs, stopping.signal).catch(() => undefined);
    }
  }
}

async function connectOnce({ broker, state, drawKey }: Composition): Promise<void> {
  const { db, log, sealer, replicaId, clock, jobs } = broker;
  const applied = await migrate(db);
  for (const migration of applied) {
    log.info({ migration }, 'migrated');
  }
  const marker = await loadMarker(db, { sealer, drawKey });
  await beat(db, { replicaId, at: clock() });
  await jobs.start();
  state.complete(marker);
  log.info({ installation: marker.installation, replica: replicaId }, 'ready');
}
