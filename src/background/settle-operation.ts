// The one row update after a step: on to the next step, again later, or ended. Every write is guarded by the claim, so
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
import { retryWithNewAccess } from './retry-with-new-access.ts';
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
  /** Fires when the process is to stop. */
  readonly stopping: AbortSignal;
}

/** @returns the operation as it goes on at once, under the same claim; undefined when it does not */
export async function settleOutcome(
  broker: Broker,
  claimed: ClaimedOperation,
  result: StepResult,
): Promise<ClaimedOperation | undefined> {
  const { outcome, next, stopping } = result;
  if (outcome.outcome === 'wait') {
    const { delayMs, description } = outcome;
    await postpone(broker, claimed, { delayMs, description, attempt: 0 });
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
