// The grants that have not ended, over all instances, deleted ones too: what may still have rights somewhere, as
// operators are shown it. A page is one query, and no sealed value is read for it.
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from './database.ts';

/**
 * `issuing`: no outcome is stored yet. `live`: its credential works. `expired`: past its expiry and not ordered to end
 * yet. `revoking`: ordered to end. `stuck`: and a try to end it has failed.
 */
export type UnfinishedState = 'issuing' | 'live' | 'expired' | 'revoking' | 'stuck';

export interface ListedGrant {
  readonly grantId: string;
  readonly grantName: string;
  readonly instanceKey: string;
  readonly instanceId: string;
  readonly instanceDeleted: boolean;
  readonly bindingId: string;
  readonly state: UnfinishedState;
  readonly createdAt: Date;
  /** Of the binding as it is now, which may be a later attempt's. */
  readonly createdBy: string;
  /** Undefined until it is issued. */
  readonly expiresAt: Date | undefined;
  readonly revokingSince: Date | undefined;
  /** How many tries to end it have failed. */
  readonly tries: number;
  readonly nextTryAt: Date | undefined;
  /** Of the last failed try, in a word or two. */
  readonly lastError: string | undefined;
}

export interface GrantsQuestion {
  readonly now: Date;
  readonly limit: number;
  readonly instanceId?: string | undefined;
  readonly bindingId?: string | undefined;
  readonly state?: UnfinishedState | undefined;
  /** Only what comes behind this one. */
  readonly after?: GrantPosition | undefined;
}

/** Of a grant in the order of the list. */
export interface GrantPosition {
  readonly instanceKey: string;
  readonly grantId: string;
}

/** Grouped by instance, in an order that an index has and that does not change. */
export async function listUnfinishedGrants(
  tx: Tx,
  question: GrantsQuestion,
): Promise<readonly ListedGrant[]> {
  const { now, limit, instanceId, bindingId, state, after } = question;
  let query = unfinished(tx)
    .select(stateAt(now).as('state'))
    .orderBy('g.instance_key')
    .orderBy('g.id')
    .limit(limit);
  if (instanceId !== undefined) query = query.where('i.id', '=', instanceId);
  if (bindingId !== undefined) query = query.where('g.binding_id', '=', bindingId);
  if (state !== undefined) query = query.where(CONDITIONS[state](now));
  if (after !== undefined) {
    query = query.where(
      sql<boolean>`(g.instance_key, g.id) > (${after.instanceKey}::uuid, ${after.grantId}::uuid)`,
    );
  }
  const rows = await query.execute();
  return rows.map((row) => ({
    grantId: row.id,
    grantName: row.name,
    instanceKey: row.instance_key,
    instanceId: row.instance_id,
    instanceDeleted: row.instance_deleted_at !== null,
    bindingId: row.binding_id,
    state: row.state,
    createdAt: row.intended_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at ?? undefined,
    revokingSince: row.revoking_since ?? undefined,
    tries: row.tries,
    nextTryAt: row.next_try_at ?? undefined,
    lastError: row.last_error ?? undefined,
  }));
}

function unfinished(tx: Tx) {
  return tx
    .selectFrom('grants as g')
    .innerJoin('instances as i', 'i.key', 'g.instance_key')
    .innerJoin('bindings as b', (join) =>
      join.onRef('b.instance_key', '=', 'g.instance_key').onRef('b.id', '=', 'g.binding_id'),
    )
    .where('g.ended_at', 'is', null)
    .select([
      'g.id',
      'g.name',
      'g.instance_key',
      'g.binding_id',
      'g.intended_at',
      'g.expires_at',
      'g.revoking_since',
      'g.tries',
      'g.next_try_at',
      'g.last_error',
      'b.created_by',
      'i.id as instance_id',
      'i.deleted_at as instance_deleted_at',
    ]);
}

function stateAt(now: Date) {
  return sql<UnfinishedState>`case
    when g.revoking_since is not null then case when g.tries > 0 then 'stuck' else 'revoking' end
    when g.expires_at is null then 'issuing'
    when g.expires_at <= ${now} then 'expired'
    else 'live' end`;
}

/** In the words of the indexes, so that a few among many are found by them. */
const CONDITIONS: Readonly<Record<UnfinishedState, (now: Date) => RawBuilder<boolean>>> = {
  issuing: () => sql<boolean>`g.expires_at is null and g.revoking_since is null`,
  live: (now) => sql<boolean>`g.expires_at > ${now} and g.revoking_since is null`,
  expired: (now) =>
    sql<boolean>`g.expires_at <= ${now} and g.next_try_at <= ${now} and g.revoking_since is null`,
  revoking: () => sql<boolean>`g.revoking_since is not null and g.tries = 0`,
  stuck: () => sql<boolean>`g.revoking_since is not null and g.tries > 0`,
};
