// The one row update after a step: on to the next step, again later, backwards to undo what was made, or ended. Every write is guarded by the claim, so
// a runner that was paused, or whose operation was cancelled, writes nothing and stops.
import type { Broker } from '../broker/broker.ts';
import { addMs } from '../domain/clock.ts';
import type { Operation, OperationType } from '../domain/operation.ts';
import {
  operationFailed,
  operationPostponed,
  operationSucceeded,
  operationTakenAway,
  operationUndone,
} from '../observability/events.ts';
import type { StepOutcome } from '../provisioners/provisioner.ts';
import { inTransaction, type OpenTransaction } from '../storage/database.ts';
import { eraseSettledAccess } from '../storage/due-grants.ts';
import { attachCluster, lockInstanceByKey, markInstanceDeleted } from '../storage/instances.ts';
import {
  advanceOperation,
  type ClaimedOperation,
  endOperation,
  postponeOperation,
} from '../storage/operations.ts';
import type { Position } from './course.ts';
import type { StepFailure } from './step-failures.ts';

/**
 * What passes by itself has mostly passed within a second; what has not is asked gently, yet often enough for a
 * person who waits.
 */
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;

export interface StepEnd {
  /** Undefined where it is not known, since what should have run could not be found out. */
  readonly position: Position | undefined;
  /** Of what follows at once. */
  readonly leasedUntil: Date;
}

export interface StepResult extends StepEnd {
  readonly position: Position;
  readonly outcome: StepOutcome;
}

/** @returns the operation as it goes on at once, under the same claim; undefined when it does not */
export async function settleOutcome(
  broker: Broker,
  claimed: ClaimedOperation,
  end: StepResult,
): Promise<ClaimedOperation | undefined> {
  const { operation, claim } = claimed;
  const { outcome, leasedUntil } = end;
  const { next, isUndoing } = end.position;
  const at = broker.clock();
  if (outcome.outcome === 'wait') {
    const { delayMs, description } = outcome;
    return await postpone(broker, claimed, { ...end, delayMs, description, attempt: 0 });
  }
  if (isUndoing && next === undefined) {
    await endAsFailed(broker, claimed, operation.description);
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
 * that needs (contract 3).
 */
async function forgetInstance(tx: OpenTransaction, instanceKey: string, at: Date): Promise<void> {
  await markInstanceDeleted(tx, instanceKey, { at });
  await eraseSettledAccess(tx, { at, instanceKey });
}

/** As settleOutcome. What undoes is repeated whatever it meets: nobody else would remove what was made. */
export async function settleFailure(
  broker: Broker,
  claimed: ClaimedOperation,
  end: StepEnd & { readonly failure: StepFailure },
): Promise<ClaimedOperation | undefined> {
  const { operation } = claimed;
  const { verdict, description, retryAfterSeconds } = end.failure;
  if (verdict === 'repeat' || end.position?.isUndoing === true) {
    const attempt = operation.attempt + 1;
    const wantedMs = Math.min(FIRST_DELAY_MS * 2 ** operation.attempt, LONGEST_DELAY_MS);
    const delayMs = Math.max(wantedMs, (retryAfterSeconds ?? 0) * 1000);
    return await postpone(broker, claimed, { ...end, delayMs, description, attempt });
  }
  return await fail(broker, claimed, { ...end, description });
}

/** What was made is removed first: until then the operation goes on, with the failure as its description. */
async function fail(
  broker: Broker,
  claimed: ClaimedOperation,
  { position, leasedUntil, description }: StepEnd & { readonly description: string },
): Promise<ClaimedOperation | undefined> {
  const { operation, claim } = claimed;
  const step = position?.firstUndo?.name;
  if (step === undefined) {
    await endAsFailed(broker, claimed, description);
    return undefined;
  }
  const at = broker.clock();
  if (!(await advanceOperation(broker.db, { claim, step, at, description, leasedUntil }))) {
    operationTakenAway(broker.log, factsOf(operation));
    return undefined;
  }
  operationUndone(broker.log, { ...factsOf(operation), cause: description });
  return { claim, operation: { ...operation, step, attempt: 0, description } };
}

async function endAsFailed(
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

interface Postponement extends StepEnd {
  readonly delayMs: number;
  readonly description: string;
  readonly attempt: number;
}

/** The last try is at the deadline; whoever comes later, because nobody ran, gets one try as well. */
async function postpone(
  broker: Broker,
  claimed: ClaimedOperation,
  postponement: Postponement,
): Promise<ClaimedOperation | undefined> {
  const { delayMs, attempt } = postponement;
  const { operation, claim } = claimed;
  const isUndoing = postponement.position?.isUndoing ?? false;
  // What the user is told is why the operation has failed, and not what holds up its undoing.
  const description = isUndoing ? operation.description : postponement.description;
  const now = broker.clock();
  if (operation.deadline <= now && !isUndoing) {
    const givenUp = `Given up at the deadline. ${description}`;
    return await fail(broker, claimed, { ...postponement, description: givenUp });
  }
  const wanted = addMs(now, delayMs);
  const nextRunAt = wanted < operation.deadline || isUndoing ? wanted : operation.deadline;
  const postponed = await inTransaction(broker.db, async (tx) => {
    const holds = await postponeOperation(tx, { claim, attempt, nextRunAt, description });
    if (holds) {
      await broker.jobs.wake(tx, { operationId: operation.id, at: nextRunAt });
    }
    return holds;
  });
  if (postponed) {
    const cause = postponement.description;
    operationPostponed(broker.log, { ...factsOf(operation), cause, nextRunAt });
  } else {
    operationTakenAway(broker.log, factsOf(operation));
  }
  return undefined;
}

function factsOf({ id, instanceKey, type }: Operation) {
  return { operationId: id, instanceKey, type };
}
