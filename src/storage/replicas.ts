// Which processes of the broker are alive, so that the work of a dead one is taken over soon.
import { REPLICA_LOST_AFTER_MS } from '../domain/binding.ts';
import type { Tx } from './database.ts';

/** Says that the replica is alive at `at`; the first beat makes it known. */
export async function beat(
  tx: Tx,
  { replicaId, at }: { readonly replicaId: string; readonly at: Date },
): Promise<void> {
  await tx
    .insertInto('replicas')
    .values({ id: replicaId, seen_at: at })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: at }))
    .execute();
}

/** A replica that stops in order leaves nobody waiting for its leases. A repeat does nothing. */
export async function removeReplica(tx: Tx, replicaId: string): Promise<void> {
  await tx.deleteFrom('replicas').where('id', '=', replicaId).execute();
}

/** A replica that lives was seen then or later: the domain's rule, for SQL. */
export function lastSeenOfLiving(now: Date): Date {
  return new Date(now.getTime() - REPLICA_LOST_AFTER_MS);
}

/** For a database that belongs to one process at a time: whoever was seen in it before is gone, however lately. */
export async function forgetReplicas(tx: Tx): Promise<void> {
  await tx.deleteFrom('replicas').execute();
}
