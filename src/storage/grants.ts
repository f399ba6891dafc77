// What becomes of a grant after it was announced: its outcome, the order to end it, tries to revoke it, its end. Each
// is one guarded write, so that a writer that was overtaken changes nothing and hears of it.
import type { Grant, GrantUids } from '../domain/binding.ts';
import type { OpenTransaction, Tx } from './database.ts';
import { isBeingIssued, issueIsDead } from './grant-rules.ts';
import { toldToWaiters } from './grant-signals.ts';
import { lastSeenOfLiving } from './replicas.ts';
import { GRANT_COLUMNS, type GrantRow, toGrant } from './rows.ts';
import type { SealedPlace } from './sealing.ts';
import { statement } from './statement.ts';

export function tokenPlace(grantId: string): SealedPlace {
  return { table: 'grants', column: 'sealed_token', row: grantId };
}

export interface GrantOutcome {
  readonly grantId: string;
  readonly uids: GrantUids;
  /** Sealed for `tokenPlace`. */
  readonly sealedToken: string;
  readonly issuedAt: Date;
  /** As the cluster granted it. */
  readonly expiresAt: Date;
}

const storeOutcome = statement<{ id: string }>(
  toldToWaiters(`update grants set account_uid = $2, role_uid = $3, role_binding_uid = $4, sealed_token = $5,
    issued_at = $6, expires_at = $7, next_try_at = $7
  where id = $1 and (${isBeingIssued('grants')}
    or (ended_at is null and revoking_since is null and sealed_token = $5 and expires_at = $7))`),
);

/**
 * A repeat with the same outcome, down to its sealed text, counts as stored: whoever lost the answer may ask again.
 * @returns false when the grant was asked to end meanwhile; then nothing was written, its slot may be another's, and
 *   what was made on the cluster is to be undone
 */
export async function recordOutcome(tx: Tx, outcome: GrantOutcome): Promise<boolean> {
  const { grantId, uids, sealedToken, issuedAt, expiresAt } = outcome;
  const stored = await storeOutcome(tx, [
    grantId,
    uids.account,
    uids.role,
    uids.roleBinding,
    sealedToken,
    issuedAt,
    expiresAt,
  ]);
  return stored.length > 0;
}

const orderRevocation = statement<{ id: string }>(
  `update grants set revoking_since = coalesce(revoking_since, $2), next_try_at = $2
  where id = $1 and ended_at is null
  returning id`,
);

/**
 * The committed order to undo or revoke a grant. From here on its writer cannot store an outcome. A repeat keeps the
 * first time and makes the next try due.
 * @returns false when it has ended, or never was
 */
export async function markRevoking(
  tx: Tx,
  { grantId, at }: { readonly grantId: string; readonly at: Date },
): Promise<boolean> {
  const ordered = await orderRevocation(tx, [grantId, at]);
  return ordered.length > 0;
}

const orderUndo = statement<{ id: string }>(
  `update grants set revoking_since = $2, next_try_at = $2
  where id = $1 and ended_at is null and revoking_since is null
  returning id`,
);

/**
 * As markRevoking, of a writer that gives up its own issue.
 * @returns false when somebody else had ordered its end before, or it has ended
 */
export async function markUndoing(
  tx: Tx,
  { grantId, at }: { readonly grantId: string; readonly at: Date },
): Promise<boolean> {
  const ordered = await orderUndo(tx, [grantId, at]);
  return ordered.length > 0;
}

const orderDeadIssues = statement<{ id: string }>(
  `update grants set revoking_since = $2, next_try_at = $2
  where instance_key = $1 and ${isBeingIssued('grants')} and ${issueIsDead('grants', '$2', '$3')}
  returning id`,
);

/**
 * Orders those grants of an instance to be undone whose issue nobody works on, which fences their writers and so
 * gives their slots back. A bind counts slots in a later statement.
 * @returns their ids
 */
export async function markDeadIssuesRevoking(
  tx: OpenTransaction,
  { instanceKey, now }: { readonly instanceKey: string; readonly now: Date },
): Promise<readonly string[]> {
  const ordered = await orderDeadIssues(tx, [instanceKey, now, lastSeenOfLiving(now)]);
  return ordered.map(({ id }) => id);
}

/**
 * After its lease and the longest that a call of a cluster client takes, no writer of a grant has a request on its way.
 * Until then a paused one might: so what ended without an outcome is looked at once more
 * (docs/architecture.md, "What goes on by itself").
 */
const LOOK_AGAIN_AFTER = `interval '60 seconds'`;

const storeEnd = statement<{ id: string }>(
  toldToWaiters(`update grants set ended_at = $2, proof = $3, sealed_token = null,
    lease_replica = null, leased_until = null,
    next_try_at = case when $4::boolean and expires_at is null
      then greatest(issuing_until, $2) + ${LOOK_AGAIN_AFTER} end
  where id = $1 and ended_at is null`),
);

export interface GrantEnd {
  readonly grantId: string;
  readonly at: Date;
  /** Says in a word how it is known that nothing is left. */
  readonly proof: string;
  /** No call of its writer can be on its way, so nobody looks at it once more. */
  readonly isFinal?: boolean;
}

/**
 * Nothing of the grant with rights is left on the cluster. Its token is erased with it; a repeat changes nothing.
 * @returns false when it had ended before
 */
export async function endGrant(
  tx: Tx,
  { grantId, at, proof, isFinal = false }: GrantEnd,
): Promise<boolean> {
  const ended = await storeEnd(tx, [grantId, at, proof, !isFinal]);
  return ended.length > 0;
}

const storeLastLook = statement<{ id: string }>(
  `update grants set next_try_at = null, lease_replica = null, leased_until = null
  where id = $1 and ended_at is not null
  returning id`,
);

/** An ended grant was looked at once more, and whatever arrived late is gone. Nothing is left to do for it. */
export async function recordLastLook(tx: Tx, grantId: string): Promise<void> {
  await storeLastLook(tx, [grantId]);
}

const storeFailure = statement<{ id: string }>(
  `update grants set tries = tries + 1, last_error = $2, next_try_at = $3,
    lease_replica = null, leased_until = null
  where id = $1 and next_try_at is not null
  returning id`,
);

export interface RevocationFailure {
  readonly grantId: string;
  /** A word or two for operators, without secrets. */
  readonly error: string;
  readonly nextTryAt: Date;
}

/** Also of the last look at an ended grant; does nothing once there is nothing left to do for it. */
export async function recordRevocationFailure(tx: Tx, failure: RevocationFailure): Promise<void> {
  await storeFailure(tx, [failure.grantId, failure.error, failure.nextTryAt]);
}

const storeUndoFailure = statement<{ id: string }>(
  toldToWaiters(`update grants set tries = tries + 1, last_error = $2, next_try_at = $3, issuing_until = least(issuing_until, $4),
    revoking_since = coalesce(revoking_since, $4), ended_at = null, proof = null,
    lease_replica = null, leased_until = null
  where id = $1 and expires_at is null`),
);

/**
 * Of a writer whose undo failed: its lease ends, so that others need not wait for it, and the grant is unfinished
 * whatever was thought of it before, since nobody knows better than its writer that something is left.
 */
export async function recordUndoFailure(
  tx: Tx,
  { grantId, error, nextTryAt, at }: RevocationFailure & { readonly at: Date },
): Promise<void> {
  await storeUndoFailure(tx, [grantId, error, nextTryAt, at]);
}

const storeWaiter = statement<{ id: string }>(
  `update grants set awaited = true
  where id = $1 and ended_at is null and expires_at is null
  returning id`,
);

/**
 * Somebody waits for what becomes of the grant: from the commit of this on, its outcome, its end and a failed undo are
 * announced (grant-signals.ts).
 * @returns false when there is nothing to wait for any more: it is to be read again
 */
export async function markAwaited(tx: Tx, grantId: string): Promise<boolean> {
  const waiting = await storeWaiter(tx, [grantId]);
  return waiting.length > 0;
}

export interface GrantToRevoke extends Grant {
  /** Sealed for `tokenPlace`; undefined before its outcome and after its end. */
  readonly sealedToken: string | undefined;
  /** How many tries to revoke it have failed. */
  readonly tries: number;
}

interface GrantToRevokeRow extends GrantRow {
  readonly sealed_token: string | null;
  readonly tries: number;
  readonly replica_seen_at: Date | null;
}

const GRANT_TO_REVOKE = `select ${GRANT_COLUMNS.map((column) => `g.${column}`).join(', ')},
    g.sealed_token, g.tries, replicas.seen_at as replica_seen_at
  from grants g left join replicas on replicas.id = g.replica_id`;

const selectGrant = statement<GrantToRevokeRow>(`${GRANT_TO_REVOKE} where g.id = $1`);

export async function readGrantForRevocation(
  tx: Tx,
  grantId: string,
): Promise<GrantToRevoke | undefined> {
  const [row] = await selectGrant(tx, [grantId]);
  return row && toGrantToRevoke(row);
}

const selectUnfinished = statement<{ id: string }>(
  'select id from grants where instance_key = $1 and ended_at is null order by intended_at, id',
);

/** Those of an instance that have not ended, oldest first, whatever their binding says. */
export async function listUnfinishedGrantIds(
  tx: Tx,
  { instanceKey }: { readonly instanceKey: string },
): Promise<readonly string[]> {
  const rows = await selectUnfinished(tx, [instanceKey]);
  return rows.map(({ id }) => id);
}

function toGrantToRevoke(row: GrantToRevokeRow): GrantToRevoke {
  return {
    ...toGrant(row, row.replica_seen_at),
    sealedToken: row.sealed_token ?? undefined,
    tries: row.tries,
  };
}
