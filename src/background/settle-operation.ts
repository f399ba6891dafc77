// The one row update after a step: on to the next step, again later, or ended. Every write is guarded by the claim, so
// a runner that was paused, or whose operation was cancelled, writes nothing and stops.
import type { Broker } from '../broker/broker.ts';
import { addMs } from '../domain/clock.ts';
import type { Operation, OperationType } from '../domain/operation.ts';
import {
  operationFailed,
  operationPostponed,
  operationSucceeded,
  operationTakenAway,
} from '../observability/events.ts';
import type { Step, StepOutcome } from '../provisioners/provisioner.ts';
import { inTransaction, type OpenTransaction } from '../storage/database.ts';
import { eraseSettledAccess } from '../storage/due-grants.ts';
import { attachCluster, lockInstanceByKey, markInstanceDeleted } from '../storage/instances.ts';
import {
  advanceOperation,
  type ClaimedOperation,
  endOperation,
  postponeOperation,
} from '../storage/operations.ts';
import type { StepFailure } from './step-failures.ts';

/**
 * What passes by itself has mostly passed within a second; what has not is asked gently, yet often enough for a
 * person who waits.
 */
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;

export interface StepResult {
  readonly outcome: StepOutcome;
  /** The step that follows; undefined after the last one. */
  readonly next: Step | undefined;
  readonly leasedUntil: Date;
}

/** @returns the operation as it goes on at once, under the same claim; undefined when it does not */
export async function settleOutcome(
  broker: Broker,
  claimed: ClaimedOperation,
  { outcome, next, leasedUntil }: StepResult,
): Promise<ClaimedOperation | undefined> {
  const { operation, claim } = claimed;
  const at = broker.clock();
  if (outcome.outcome === 'wait') {
    const { delayMs, description } = outcome;
    await postpone(broker, claimed, { delayMs, description, attempt: 0 });
    return undefined;
  }
  const settled = await inTransaction(broker.db, async (tx) => {
    await lockInstanceByKey(tx, operation.instanceKey);
    const holds =
      next === undefined
        ? await endAsSucceeded(tx, claimed, at)
        : await advanceOperation(tx, {
            claim,
            step: next.name,
            at,
            description: operation.description,
            leasedUntil,
          });
    if (holds && outcome.cluster !== undefined) {
      await attachCluster(tx, operation.instanceKey, { cluster: outcome.cluster, at });
    }
    return holds;
  });
  if (!settled) {
    operationTakenAway(broker.log, factsOf(operation));
    return undefined;
  }
  if (next === undefined) {
    operationSucceeded(broker.log, factsOf(operation));
    if (operation.type === 'deprovision') {
      broker.clusters.forget(operation.instanceKey);
    }
    return undefined;
  }
  return { claim, operation: { ...operation, step: next.name, attempt: 0 } };
}

async function endAsSucceeded(
  tx: OpenTransaction,
  { operation, claim }: ClaimedOperation,
  at: Date,
): Promise<boolean> {
  const description = ONCE_SUCCEEDED[operation.type];
  const holds = await endOperation(tx, { claim, state: 'succeeded', description, at });
  if (holds && operation.type === 'deprovision') {
    await forgetInstance(tx, operation.instanceKey, at);
  }
  return holds;
}

const ONCE_SUCCEEDED: Readonly<Record<OperationType, string>> = {
  provision: 'The runtime is ready.',
  update: 'The runtime is updated.',
  deprovision: 'The instance is deleted.',
  suspend: 'The instance is suspended.',
  resume: 'The runtime is ready again.',
};

/**
 * The admin access stays sealed for as long as a grant is not revoked, or is to be looked at once more: it is what
 * that needs (docs/architecture.md, "What goes on by itself").
 */
async function forgetInstance(tx: OpenTransaction, instanceKey: string, at: Date): Promise<void> {
  await markInstanceDeleted(tx, instanceKey, { at });
  await eraseSettledAccess(tx, { at, instanceKey });
}

/** @returns always undefined: whatever follows, it does not follow at once */
export async function settleFailure(
  broker: Broker,
  claimed: ClaimedOperation,
  { verdict, description, retryAfterSeconds }: StepFailure,
): Promise<undefined> {
  const { operation } = claimed;
  if (verdict === 'repeat') {
    const attempt = operation.attempt + 1;
    const wantedMs = Math.min(FIRST_DELAY_MS * 2 ** operation.attempt, LONGEST_DELAY_MS);
    const delayMs = Math.max(wantedMs, (retryAfterSeconds ?? 0) * 1000);
    await postpone(broker, claimed, { delayMs, description, attempt });
    return undefined;
  }
  await fail(broker, claimed, description);
  return undefined;
}

async function fail(
  broker: Broker,
  { operation, claim }: ClaimedOperation,
  description: string,
): Promise<void> {
  const at = broker.clock();
  if (await endOperation(broker.db, { claim, state: 'failed', description, at })) {
    operationFailed(broker.log, { ...factsOf(operation), cause: description });
  } else {
    operationTakenAway(broker.log, factsOf(operation));
  }
}

interface Postponement {
  readonly delayMs: number;
  readonly description: string;
  readonly attempt: number;
}

/** The last try is at the deadline; whoever comes later, because nobody ran, gets one try as well. */
async function postpone(
  broker: Broker,
  claimed: ClaimedOperation,
  { delayMs, description, attempt }: Postponement,
): Promise<void> {
  const { operation, claim } = claimed;
  const now = broker.clock();
  if (operation.deadline <= now) {
    await fail(broker, claimed, `Given up at the deadline. ${description}`);
    return;
  }
  const wanted = addMs(now, delayMs);
  const nextRunAt = wanted < operation.deadline ? wanted : operation.deadline;
  const postponed = await inTransaction(broker.db, async (tx) => {
    const holds = await postponeOperation(tx, { claim, attempt, nextRunAt, description });
    if (holds) {
      await broker.jobs.wake(tx, { operationId: operation.id, at: nextRunAt });
    }
    return holds;
  });
  if (postponed) {
    operationPostponed(broker.log, { ...factsOf(operation), cause: description, nextRunAt });
  } else {
    operationTakenAway(broker.log, factsOf(operation));
  }
}

function factsOf({ id, instanceKey, type }: Operation) {
  return { operationId: id, instanceKey, type };
}
