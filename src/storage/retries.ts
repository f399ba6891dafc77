// Tries to end grants that somebody asks for before their time. What a try does is left to broker/finish-revocation.ts.
import type { OpenTransaction, Tx } from './database.ts';
import { isBeingIssued, issueIsDead } from './grant-rules.ts';
import { lastSeenOfLiving } from './replicas.ts';
import { statement } from './statement.ts';

export interface BindingIds {
  /** OSB ids. */
  readonly instanceId: string;
  readonly bindingId: string;
}

const selectKeys = statement<{ key: string }>(
  `select i.key from instances i join bindings b on b.instance_key = i.key
  where i.id = $1 and b.id = $2 order by i.created_at, i.key`,
);

/** The keys of all records that ever had the instance's id and have this binding, deleted ones included. */
export async function listInstanceKeysOfBinding(
  tx: Tx,
  { instanceId, bindingId }: BindingIds,
): Promise<readonly string[]> {
  const rows = await selectKeys(tx, [instanceId, bindingId]);
  return rows.map(({ key }) => key);
}

/**
 * Who asks for the try also makes it, for this long at the most (compose.ts). A reconciler does it only then, so that
 * the two do not work on the same grant at once.
 */
const OWN_TRY = `interval '15 seconds'`;

const orderRetry = statement<{ id: string; name: string }>(
  `update grants set next_try_at = $3::timestamptz + ${OWN_TRY}
  where instance_key = $1 and binding_id = $2 and ended_at is null and revoking_since is not null
  returning id, name`,
);

export interface OrderedRetry {
  readonly grantId: string;
  readonly grantName: string;
}

/** Of the grants of a binding that are ordered to end and have not ended. The instance is locked. */
export async function orderRetriesOfBinding(
  tx: OpenTransaction,
  order: { readonly instanceKey: string; readonly bindingId: string; readonly at: Date },
): Promise<readonly OrderedRetry[]> {
  const rows = await orderRetry(tx, [order.instanceKey, order.bindingId, order.at]);
  return rows.map(({ id, name }) => ({ grantId: id, grantName: name }));
}

const selectStuck = statement<{ id: string }>(
  `select id from grants
  where instance_key = $1 and ended_at is null and revoking_since is not null and tries > 0
  order by intended_at, id`,
);

/** Those of an instance whose end was ordered and tried in vain. */
export async function listStuckGrantIds(
  tx: Tx,
  { instanceKey }: { readonly instanceKey: string },
): Promise<readonly string[]> {
  const rows = await selectStuck(tx, [instanceKey]);
  return rows.map(({ id }) => id);
}

const makeDue = statement<{ id: string }>(
  `update grants set next_try_at = $1
  where revoking_since is not null and ended_at is null and id in (
    select id from grants
    where ended_at is null and revoking_since is not null and tries > 0 and next_try_at > $1
    limit $2 for update skip locked
  )
  returning id`,
);

/** Over all instances: what waits for its next try need not wait longer. @returns how many, `limit` at most */
export async function makeStuckGrantsDue(
  tx: Tx,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<number> {
  const due = await makeDue(tx, [now, limit]);
  return due.length;
}

const countFailing = statement<{ failing: number }>(
  `select count(*)::int as failing from grants
  where ended_at is null and revoking_since <= $1
    and (tries > 0 or (next_try_at <= $2 and leased_until is null))`,
);

/** Grants ordered to end by `orderedBy` that could not be ended, or that nobody has come to. */
export async function countGrantsNotEnded(
  tx: Tx,
  { orderedBy, now }: { readonly orderedBy: Date; readonly now: Date },
): Promise<number> {
  const [row] = await countFailing(tx, [orderedBy, now]);
  return row?.failing ?? 0;
}

const countToEnd = statement<{ to_order: number; ordered: number }>(
  `select
    count(*) filter (where revoking_since is null and (expires_at <= $1
      or (${isBeingIssued('grants')} and ${issueIsDead('grants', '$1', '$2')})))::int as to_order,
    count(*) filter (where revoking_since is not null)::int as ordered
  from grants where ended_at is null`,
);

export interface GrantsToEnd {
  /** Past their expiry, or died while they were issued, and not ordered to end yet. */
  readonly toOrder: number;
  readonly ordered: number;
}

/** What a pass of the reconcilers would have to do. */
export async function countGrantsToEnd(tx: Tx, now: Date): Promise<GrantsToEnd> {
  const [row] = await countToEnd(tx, [now, lastSeenOfLiving(now)]);
  return { toOrder: row?.to_order ?? 0, ordered: row?.ordered ?? 0 };
}
