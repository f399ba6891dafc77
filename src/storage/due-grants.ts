// Which grants the reconcilers have to do with: what is past its expiry or died while it was issued is marked, what is
// due is claimed by lease columns for one replica at a time. What becomes of a claimed grant is left to grants.ts, and
// each of those writes gives the lease back.
import type { Tx } from './database.ts';
import { isBeingIssued, issueIsDead } from './grant-rules.ts';
import { lastSeenOfLiving } from './replicas.ts';
import { statement } from './statement.ts';

export interface MarkBatch {
  readonly now: Date;
  /** How many at most; fewer than that were left when fewer are marked. */
  readonly limit: number;
}

/**
 * Rows that somebody else is writing are skipped, since two statements that wait for each other's rows end as a
 * deadlock. The next pass finds what is still to be marked. Materialized: a plan may run a subquery more than once, and
 * each run would choose, and lock, as many again.
 */
const markExpired = statement<{ id: string }>(
  `with chosen as materialized (
    select id from grants
    where next_try_at <= $1 and expires_at <= $1 and revoking_since is null and ended_at is null
    order by next_try_at limit $2 for update skip locked
  )
  update grants set revoking_since = $1, next_try_at = $1 from chosen
  where grants.id = chosen.id and revoking_since is null and ended_at is null
  returning grants.id`,
);

/**
 * The committed order to end what is past its expiry, over all instances.
 * @returns how many were marked by this call
 */
export async function markExpiredRevoking(tx: Tx, { now, limit }: MarkBatch): Promise<number> {
  const marked = await markExpired(tx, [now, limit]);
  return marked.length;
}

const markDeadIssues = statement<{ id: string }>(
  `with chosen as materialized (
    select g.id from grants g
    where ${isBeingIssued('g')} and ${issueIsDead('g', '$1', '$3')}
    order by g.issuing_until limit $2 for update skip locked
  )
  update grants set revoking_since = $1, next_try_at = $1 from chosen
  where grants.id = chosen.id and ${isBeingIssued('grants')}
  returning grants.id`,
);

/**
 * The same for issues that nobody works on, over all instances: their writers are fenced from then on.
 * @returns how many were marked by this call
 */
export async function markDeadIssuesDue(tx: Tx, { now, limit }: MarkBatch): Promise<number> {
  const marked = await markDeadIssues(tx, [now, limit, lastSeenOfLiving(now)]);
  return marked.length;
}

/** Neither past its order to end nor at work: `now` and `livingSince` are SQL, as in grant-rules.ts. */
function isToBeEnded(grant: string, now: string, livingSince: string): string {
  return `(${grant}.ended_at is not null or (${grant}.revoking_since is not null
    and (${grant}.expires_at is not null or ${issueIsDead(grant, now, livingSince)})))`;
}

/** A lease frees by itself when it is over, and sooner when its replica is lost. */
function isFree(grant: string, now: string, livingSince: string): string {
  return `(${grant}.leased_until is null or ${grant}.leased_until <= ${now} or not exists (
    select 1 from replicas
    where replicas.id = ${grant}.lease_replica and replicas.seen_at >= ${livingSince}
  ))`;
}

function isClaimable(grant: string): string {
  return `${grant}.next_try_at <= $1 and ${isToBeEnded(grant, '$1', '$2')} and ${isFree(grant, '$1', '$2')}`;
}

/** Instances of which nothing may be claimed, and how many places are taken of those of which less may be. */
const TAKEN = `taken as (
    select key::uuid as instance_key, value::int as places from json_each_text($3::json)
  )`;

const OF_INSTANCE_WITH_PLACES = `not exists (
    select 1 from taken where taken.instance_key = g.instance_key and taken.places >= $4
  )`;

/**
 * How many due rows a claim looks at, oldest first. Beyond them, rows of instances that have no place are left out
 * already; so this only bounds by how much one instance with many due rows narrows a claim.
 */
const LOOKED_AT = 200;

const claim = statement<{ id: string; instance_key: string; ended_at: Date | null }>(
  `with ${TAKEN}, due as (
    select g.id, g.instance_key, g.next_try_at from grants g
    where ${isClaimable('g')} and ${OF_INSTANCE_WITH_PLACES}
    order by g.next_try_at limit ${LOOKED_AT}
  ), in_turn as (
    select due.*, row_number() over (
      partition by due.instance_key order by due.next_try_at, due.id
    ) + coalesce(taken.places, 0) as place
    from due left join taken on taken.instance_key = due.instance_key
  ), chosen as materialized (
    select g.id from grants g join in_turn on in_turn.id = g.id
    where in_turn.place <= $4
    order by in_turn.next_try_at limit $5 for update of g skip locked
  )
  update grants set lease_replica = $6, leased_until = $7
  from chosen where grants.id = chosen.id and ${isClaimable('grants')}
  returning grants.id, grants.instance_key, grants.ended_at`,
);

export interface DueGrantsClaim {
  readonly replicaId: string;
  readonly now: Date;
  readonly leasedUntil: Date;
  readonly limit: number;
  /** How many grants of one instance may be worked on at a time. */
  readonly perInstance: number;
  /** By instance key: how many of its places are taken; of an instance without a free one nothing is claimed. */
  readonly placesTaken: ReadonlyMap<string, number>;
}

export interface ClaimedGrant {
  readonly grantId: string;
  readonly instanceKey: string;
  /** Set: it has ended and is to be looked at once more. */
  readonly endedAt: Date | undefined;
}

/**
 * Claims what is due and what nobody works on, neither a replica that holds a lease nor a writer that lives; longest
 * due first. Empty also where others were faster: `readNextTry` tells whether something is left.
 */
export async function claimDueGrants(
  tx: Tx,
  { replicaId, now, leasedUntil, limit, perInstance, placesTaken }: DueGrantsClaim,
): Promise<readonly ClaimedGrant[]> {
  const taken = JSON.stringify(Object.fromEntries(placesTaken));
  const claimed = await claim(tx, [
    now,
    lastSeenOfLiving(now),
    taken,
    perInstance,
    limit,
    replicaId,
    leasedUntil,
  ]);
  return claimed.map((row) => ({
    grantId: row.id,
    instanceKey: row.instance_key,
    endedAt: row.ended_at ?? undefined,
  }));
}

const release = statement<{ id: string }>(
  `update grants set lease_replica = null, leased_until = null
  where lease_replica = $1 and id = any($2::uuid[])
  returning id`,
);

/** Gives claimed grants back untouched; what another replica has claimed meanwhile stays its own. */
export async function releaseGrants(
  tx: Tx,
  { replicaId, grantIds }: { readonly replicaId: string; readonly grantIds: readonly string[] },
): Promise<void> {
  await release(tx, [replicaId, [...grantIds]]);
}

const selectNextExpiry = statement<{ next_try_at: Date }>(
  `select next_try_at from grants
  where next_try_at <= $1 and revoking_since is null and ended_at is null
  order by next_try_at limit 1`,
);

/**
 * When the next grant expires, or the next lease of a writer ends, whichever comes first.
 * @returns undefined when nothing does before `horizon`, so that what is far off is not read at each question
 */
export async function readNextExpiry(tx: Tx, horizon: Date): Promise<Date | undefined> {
  const [row] = await selectNextExpiry(tx, [horizon]);
  return row?.next_try_at;
}

const selectNextTry = statement<{ next_try_at: Date }>(
  `with ${TAKEN}
  select g.next_try_at from grants g
  where g.next_try_at <= $5 and ${isToBeEnded('g', '$1', '$2')} and ${isFree('g', '$1', '$2')}
    and ${OF_INSTANCE_WITH_PLACES}
  order by g.next_try_at limit 1`,
);

export interface NextTryQuestion
  extends Pick<DueGrantsClaim, 'now' | 'perInstance' | 'placesTaken'> {
  readonly horizon: Date;
}

/**
 * When the next of those is due that claimDueGrants would give; it may be past.
 * @returns undefined when none is before `horizon`
 */
export async function readNextTry(
  tx: Tx,
  { now, perInstance, placesTaken, horizon }: NextTryQuestion,
): Promise<Date | undefined> {
  const taken = JSON.stringify(Object.fromEntries(placesTaken));
  const [row] = await selectNextTry(tx, [now, lastSeenOfLiving(now), taken, perInstance, horizon]);
  return row?.next_try_at;
}

const makeDue = statement<{ id: string }>(
  `with chosen as materialized (
    select id from grants
    where instance_key = $1 and ended_at is null and revoking_since is not null
      and next_try_at > $2 and tries > 0
    for update skip locked
  )
  update grants set next_try_at = $2 from chosen
  where grants.id = chosen.id and ended_at is null
  returning grants.id`,
);

/** For when the cluster of an instance is back: what waits for its next try need not wait longer. */
export async function makeFailedTriesDue(
  tx: Tx,
  { instanceKey, now }: { readonly instanceKey: string; readonly now: Date },
): Promise<void> {
  await makeDue(tx, [instanceKey, now]);
}

/** The last piece of a deleted instance's work: nothing of it is left to be ended, or to be looked at once more. */
const erase = statement<{ key: string }>(
  `update instances i set sealed_access = null, rev = rev + 1, updated_at = $1
  where i.deleted_at is not null and i.sealed_access is not null
    and ($2::uuid is null or i.key = $2) and not exists (
      select 1 from grants g
      where g.instance_key = i.key and (g.ended_at is null or g.next_try_at is not null)
    )
  returning i.key`,
);

export interface SettledAccess {
  readonly at: Date;
  /** Of that one only; of all unless said. */
  readonly instanceKey?: string;
}

/**
 * Erases the admin access of deleted instances whose grants are all settled. Called in the transaction that deletes
 * an instance, and after each end of a grant of a deleted one; whatever falls between the two is found by the next call
 * for all.
 * @returns the keys of those instances: their open clients are to be forgotten
 */
export async function eraseSettledAccess(
  tx: Tx,
  { at, instanceKey }: SettledAccess,
): Promise<readonly string[]> {
  const erased = await erase(tx, [at, instanceKey ?? null]);
  return erased.map(({ key }) => key);
}
