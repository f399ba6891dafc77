// The one row update after a step: on to the next step, again later, backwards to undo what was made, or ended. Every write is guarded by the claim, so
// a runner that was paused, or whose operation was cancelled, writes nothing and stops.
import type { Broker } from '../broker/broker.ts';
import { addMs } from '../domain/clock.ts';
import type { AttachedCluster } from '../domain/instance.ts';
import type { Operation, OperationType } from '../domain/operation.ts';
import {
  operationFailed,
  operationPostponed,
  operationSucceeded,
  operationTakenAway,
  operationUndone,
} from '../observability/events.ts';
import type { Step, StepOutcome } from '../provisioners/provisioner.ts';
import { inTransaction } from '../storage/database.ts';
import { attachCluster, lockInstanceByKey } from '../storage/instances.ts';
import {
  advanceOperation,
  type ClaimedOperation,
  endOperation,
  postponeOperation,
} from '../storage/operations.ts';
import { applySuccess, sealedForInstance, tellEnded } from './apply-success.ts';
import type { Position } from './course.ts';
import { retryWithNewAccess } from './retry-with-new-access.ts';
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
  /** Fires when the process is to stop. */
  readonly stopping: AbortSignal;
}

/** @returns the operation as it goes on at once, under the same claim; undefined when it does not */
export async function settleOutcome(
  broker: Broker,
  claimed: ClaimedOperation,
  result: StepResult,
): Promise<ClaimedOperation | undefined> {
  const { outcome, stopping } = result;
  const { next, isUndoing } = result.position;
  if (outcome.outcome === 'wait') {
    const { delayMs, description } = outcome;
    return await postpone(broker, claimed, { ...result, delayMs, description, attempt: 0 });
  }
  if (next === undefined && isUndoing) {
    await endAsFailed(broker, claimed, claimed.operation.description);
    return undefined;
  }
  if (next === undefined) {
    await succeed(broker, claimed, { cluster: outcome.cluster, stopping });
    return undefined;
  }
  return await advance(broker, claimed, { ...result, next, cluster: outcome.cluster });
}

async function advance(
  broker: Broker,
  { operation, claim }: ClaimedOperation,
  { cluster, next, leasedUntil }: Found & Pick<StepResult, 'leasedUntil'> & { readonly next: Step },
): Promise<ClaimedOperation | undefined> {
  const at = broker.clock();
  const { instanceKey, description } = operation;
  const holds = await inTransaction(broker.db, async (tx) => {
    await lockInstanceByKey(tx, instanceKey);
    const step = next.name;
    const advanced = await advanceOperation(tx, { claim, step, at, description, leasedUntil });
    // While an update runs, the instance is served as it was.
    if (advanced && cluster !== undefined && operation.type !== 'update') {
      await attachCluster(tx, instanceKey, { cluster, at });
    }
    return advanced;
  });
  if (!holds) {
    operationTakenAway(broker.log, factsOf(operation));
    return undefined;
  }
  return { claim, operation: { ...operation, step: next.name, attempt: 0 } };
}

interface Found {
  readonly cluster: AttachedCluster | undefined;
}

/** One transaction ends the operation and makes of the instance what it was for. */
async function succeed(
  broker: Broker,
  { operation, claim }: ClaimedOperation,
  { cluster, stopping }: Found & Pick<StepResult, 'stopping'>,
): Promise<void> {
  const { type, instanceKey } = operation;
  const at = broker.clock();
  const sealedAccess = await sealedForInstance(broker, operation);
  const description = ONCE_SUCCEEDED[type];
  const ended = await inTransaction(broker.db, async (tx) => {
    await lockInstanceByKey(tx, instanceKey);
    if (!(await endOperation(tx, { claim, state: 'succeeded', description, at }))) {
      return undefined;
    }
    if (cluster !== undefined) {
      await attachCluster(tx, instanceKey, { cluster, at });
    }
    return await applySuccess(broker, tx, { operation, sealedAccess, at });
  });
  if (ended === undefined) {
    operationTakenAway(broker.log, factsOf(operation));
    return;
  }
  operationSucceeded(broker.log, factsOf(operation));
  tellEnded(broker, ended);
  if (type !== 'provision') {
    // What was open may lead to a cluster that is gone, or by an access that is not kept any more.
    broker.clusters.forget(instanceKey);
  }
  if (sealedAccess !== undefined) {
    await retryWithNewAccess(broker, instanceKey, stopping);
  }
}

const ONCE_SUCCEEDED: Readonly<Record<OperationType, string>> = {
  provision: 'The runtime is ready.',
  update: 'The runtime is updated.',
  deprovision: 'The instance is deleted.',
  suspend: 'The instance is suspended.',
  resume: 'The runtime is ready again.',
};

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
