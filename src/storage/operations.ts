// The long work on instances: announced, claimed by one runner at a time, moved on step by step, ended. The row is
// the truth about an operation; what wakes its runner is the job engine's.
import { type ExpressionBuilder, sql } from 'kysely';
import type {
  InstanceChange,
  Operation,
  OperationState,
  OperationType,
} from '../domain/operation.ts';
import type { OpenTransaction, Schema, Tx } from './database.ts';
import { lastSeenOfLiving } from './replicas.ts';
import { OPERATION_COLUMNS, toOperation } from './rows.ts';
import type { SealedPlace } from './sealing.ts';
import { statement } from './statement.ts';

export interface NewOperation {
  readonly id: string;
  readonly instanceKey: string;
  readonly type: OperationType;
  /** A sentence for the platform's user. */
  readonly description: string;
  readonly deadline: Date;
  /** Also when it is due first. */
  readonly createdAt: Date;
  readonly change?: InstanceChange | undefined;
  /** Admin access that the change brings, sealed for `newAccessPlace`. */
  readonly sealedAccess?: string | undefined;
}

export function newAccessPlace(operationId: string): SealedPlace {
  return { table: 'operations', column: 'sealed_access', row: operationId };
}

/** The right to work on an operation. It holds until the operation ends or another runner claims it. */
export interface OperationClaim {
  readonly id: string;
  readonly fence: number;
}

export interface ClaimedOperation {
  readonly operation: Operation;
  readonly claim: OperationClaim;
}

/** An instance has one operation in progress at most; the database refuses a second. */
export async function insertOperation(tx: Tx, operation: NewOperation): Promise<void> {
  await tx
    .insertInto('operations')
    .values({
      id: operation.id,
      instance_key: operation.instanceKey,
      type: operation.type,
      state: 'in progress',
      attempt: 0,
      next_run_at: operation.createdAt,
      deadline: operation.deadline,
      description: operation.description,
      created_at: operation.createdAt,
      change: operation.change === undefined ? null : JSON.stringify(operation.change),
      sealed_access: operation.sealedAccess ?? null,
    })
    .execute();
}

/** By the id that the platform sent back, over all records that ever had the instance's id, deleted ones included. */
export async function findOperationOfInstance(
  tx: Tx,
  { instanceId, operationId }: { readonly instanceId: string; readonly operationId: string },
): Promise<Operation | undefined> {
  if (operationId.includes('\0')) {
    // PostgreSQL has no text with this character, so it would refuse the question instead of finding nothing.
    return undefined;
  }
  const row = await tx
    .selectFrom('operations as o')
    .innerJoin('instances as i', 'i.key', 'o.instance_key')
    .select(OPERATION_COLUMNS.map((column) => `o.${column}` as const))
    .where('o.id', '=', operationId)
    .where('i.id', '=', instanceId)
    .executeTakeFirst();
  return row && toOperation(row);
}

/** Sealed for `newAccessPlace`; undefined where the operation brings none, and once it has ended. */
export async function readNewAccess(tx: Tx, operationId: string): Promise<string | undefined> {
  const [row] = await selectNewAccess(tx, [operationId]);
  return row?.sealed_access ?? undefined;
}

const selectNewAccess = statement<{ sealed_access: string | null }>(
  'select sealed_access from operations where id = $1',
);

export interface ClaimRequest {
  readonly id: string;
  readonly replicaId: string;
  readonly now: Date;
  readonly leasedUntil: Date;
}

/**
 * Claims the operation if it is due and nobody holds it: the last lease has lapsed, or its replica is lost.
 * @returns undefined when there is nothing to do, or somebody else is doing it
 */
export async function claimOperation(
  tx: Tx,
  { id, replicaId, now, leasedUntil }: ClaimRequest,
): Promise<ClaimedOperation | undefined> {
  const row = await tx
    .updateTable('operations as o')
    .set({ lease_replica: replicaId, leased_until: leasedUntil, claims: sql<number>`o.claims + 1` })
    .where('o.id', '=', id)
    .where(isClaimable(now))
    .returning([...OPERATION_COLUMNS.map((column) => `o.${column}` as const), 'o.claims'])
    .executeTakeFirst();
  return row && { operation: toOperation(row), claim: { id, fence: row.claims } };
}

function isClaimable(now: Date) {
  return (eb: ExpressionBuilder<Schema & { o: Schema['operations'] }, 'o'>) =>
    eb.and([
      eb('o.state', '=', 'in progress'),
      eb('o.next_run_at', '<=', now),
      eb.or([
        eb('o.leased_until', 'is', null),
        eb('o.leased_until', '<=', now),
        eb.not(
          eb.exists(
            eb
              .selectFrom('replicas as r')
              .select('r.id')
              .whereRef('r.id', '=', 'o.lease_replica')
              .where('r.seen_at', '>=', lastSeenOfLiving(now)),
          ),
        ),
      ]),
    ]);
}

export interface OperationAdvance {
  readonly claim: OperationClaim;
  /** The step to run next. */
  readonly step: string;
  readonly at: Date;
  readonly description: string;
  readonly leasedUntil: Date;
}

/**
 * The one write after a step: the next one is due at once, its attempts are counted anew, and the lease goes on.
 * @returns false when the claim does not hold any more; then nothing was written and the runner stops
 */
export async function advanceOperation(tx: Tx, advance: OperationAdvance): Promise<boolean> {
  const { numUpdatedRows } = await underClaim(tx, advance.claim)
    .set({
      step: advance.step,
      attempt: 0,
      next_run_at: advance.at,
      description: advance.description,
      leased_until: advance.leasedUntil,
    })
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export interface OperationPostponement {
  readonly claim: OperationClaim;
  readonly attempt: number;
  readonly nextRunAt: Date;
  readonly description: string;
}

/** Gives the claim back and has the same step run again later. @returns false as `advanceOperation` does */
export async function postponeOperation(
  tx: Tx,
  postponement: OperationPostponement,
): Promise<boolean> {
  const { numUpdatedRows } = await underClaim(tx, postponement.claim)
    .set({
      attempt: postponement.attempt,
      next_run_at: postponement.nextRunAt,
      description: postponement.description,
      lease_replica: null,
      leased_until: null,
    })
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export interface OperationEnd {
  readonly claim: OperationClaim;
  readonly state: Exclude<OperationState, 'in progress'>;
  readonly description: string;
  readonly at: Date;
}

/** @returns false as `advanceOperation` does; what else its end means belongs in the same transaction. */
export async function endOperation(tx: Tx, end: OperationEnd): Promise<boolean> {
  const { numUpdatedRows } = await underClaim(tx, end.claim)
    .set({ ...ENDED, state: end.state, description: end.description, finished_at: end.at })
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Ends it as failed whoever works on it; that runner's claim does not hold any more.
 * @returns false when it had ended before
 */
export async function cancelOperation(
  tx: OpenTransaction,
  { id, description, at }: { readonly id: string; readonly description: string; readonly at: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('operations')
    .set({ ...ENDED, state: 'failed', description, finished_at: at })
    .where('id', '=', id)
    .where('state', '=', 'in progress')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** A new admin access is the instance's by now, or nobody's. */
const ENDED = { step: null, lease_replica: null, leased_until: null, sealed_access: null } as const;

function underClaim(tx: Tx, { id, fence }: OperationClaim) {
  return tx
    .updateTable('operations')
    .where('id', '=', id)
    .where('claims', '=', fence)
    .where('state', '=', 'in progress');
}

export interface OpenOperation {
  readonly id: string;
  readonly nextRunAt: Date;
}

/** Those that are due and that nobody works on, longest due first: their wake-up may be lost. */
export async function listOpenOperations(
  tx: Tx,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<readonly OpenOperation[]> {
  const rows = await tx
    .selectFrom('operations as o')
    .select(['o.id', 'o.next_run_at'])
    .where(isClaimable(now))
    .orderBy('o.next_run_at')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ id: row.id, nextRunAt: row.next_run_at }));
}
