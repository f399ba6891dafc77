// Takes away history that nothing depends on any more, in batches. What may go is said here; when, by the caller:
// until then an answer does not depend on whether a sweeper has run (docs/architecture.md, "What goes on by itself").
import type { Tx } from './database.ts';
import { statement } from './statement.ts';

export interface PruneBatch {
  /** What ended then or earlier goes. */
  readonly before: Date;
  /** How many at most; nothing is left to go when fewer went. */
  readonly limit: number;
}

/** @returns how many went */
export type Prune = (tx: Tx, batch: PruneBatch) => Promise<number>;

function prune(text: string): Prune {
  const run = statement<object>(text);
  return async (tx, { before, limit }) => (await run(tx, [before, limit])).length;
}

/** Ended, and not to be looked at once more: nothing of it is on a cluster, and nobody will ask one about it. */
const IS_SETTLED = `g.ended_at <= $1 and g.next_try_at is null`;

/** Attempts that their binding has left behind. */
export const pruneEarlierGrants = prune(
  `with chosen as materialized (
    select g.id from grants g
    join bindings b on b.instance_key = g.instance_key and b.id = g.binding_id
    where ${IS_SETTLED} and b.current_grant <> g.id
    order by g.ended_at limit $2 for update of g skip locked
  )
  delete from grants using chosen where grants.id = chosen.id
  returning grants.id`,
);

/**
 * Bindings whose one remaining grant is settled, with that grant. A bind that makes one anew at this moment waits for
 * the row, and then inserts it.
 */
export const pruneBindings = prune(
  `with chosen as materialized (
    select b.instance_key, b.id, g.id as grant_id
    from grants g join bindings b on b.current_grant = g.id
    where ${IS_SETTLED} and not exists (
      select 1 from grants other
      where other.instance_key = b.instance_key and other.binding_id = b.id and other.id <> g.id
    )
    order by g.ended_at limit $2 for update of b, g skip locked
  ), gone as (
    delete from bindings using chosen
    where bindings.instance_key = chosen.instance_key and bindings.id = chosen.id
      and bindings.current_grant = chosen.grant_id
    returning chosen.grant_id
  )
  delete from grants using gone where grants.id = gone.grant_id
  returning grants.id`,
);

/** Deleted instances without bindings, with their operations; a grant that is not settled keeps its binding. */
export const pruneInstances = prune(
  `with chosen as materialized (
    select i.key from instances i
    where i.deleted_at <= $1
      and not exists (select 1 from bindings where bindings.instance_key = i.key)
    order by i.deleted_at limit $2 for update skip locked
  ), operations_gone as (
    delete from operations using chosen where operations.instance_key = chosen.key
  )
  delete from instances using chosen where instances.key = chosen.key
  returning instances.key`,
);

/** Operations that have ended and that a later one of their instance has followed; the latest tells the state. */
export const pruneOperations = prune(
  `with chosen as materialized (
    select o.id from operations o
    where o.created_at <= $1 and o.finished_at <= $1 and exists (
      select 1 from operations later
      where later.instance_key = o.instance_key and later.number > o.number
    )
    order by o.created_at limit $2 for update skip locked
  )
  delete from operations using chosen where operations.id = chosen.id
  returning operations.id`,
);

/** Replicas that were not seen since: whatever they held was taken over long ago. */
export async function pruneReplicas(tx: Tx, notSeenSince: Date): Promise<void> {
  await tx.deleteFrom('replicas').where('seen_at', '<=', notSeenSince).execute();
}
