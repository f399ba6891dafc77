// Runs one operation as far as it goes, one step after the other. What a step does is left to the provisioners, what
// is written after it to settle-operation.ts, and when a runner is woken to the job engine.
import type { Broker } from '../broker/broker.ts';
import { addMs } from '../domain/clock.ts';
import { UpstreamError } from '../domain/errors.ts';
import type { StepContext } from '../provisioners/provisioner.ts';
import { findInstanceByKey } from '../storage/instances.ts';
import { type ClaimedOperation, claimOperation } from '../storage/operations.ts';
import { type Position, positionIn } from './course.ts';
import { settleFailure, settleOutcome } from './settle-operation.ts';
import { stepFailure } from './step-failures.ts';
import { stepsOfOperation } from './steps-of-operation.ts';

/** Longer than any step's own limits, short enough that a lost runner's operation goes on within a minute. */
const LEASE_MS = 60_000;

/** A database that fails over is back within seconds, and meanwhile one attempt a second is no load on it. */
const STORE_PAUSE_MS = 1_000;

/** A step ends before its lease does, so that two replicas never run the same one. */
export const STEP_TIMEOUT_MS = 50_000;

/**
 * Returns when the operation has ended, waits for a later time, or belongs to another runner.
 * @param stopping fires when the process is to stop; the step that runs is run again by whoever claims next
 * @throws UpstreamError of the database; the claim lapses by itself, and a later waking goes on
 */
export async function runOperation(
  broker: Broker,
  operationId: string,
  stopping: AbortSignal,
): Promise<void> {
  const now = broker.clock();
  let claimed = await claimOperation(broker.db, {
    id: operationId,
    replicaId: broker.replicaId,
    now,
    leasedUntil: addMs(now, LEASE_MS),
  });
  while (claimed !== undefined && !stopping.aborted) {
    claimed = await runNextStep(broker, claimed, stopping);
  }
}

/** @returns the operation as it goes on at once, under the same claim; undefined when it does not */
async function runNextStep(
  broker: Broker,
  claimed: ClaimedOperation,
  stopping: AbortSignal,
): Promise<ClaimedOperation | undefined> {
  const leasedUntil = addMs(broker.clock(), LEASE_MS);
  const write = await runStep(broker, claimed, stopping);
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isDatabaseAway(error) || stopping.aborted || broker.clock() >= leasedUntil) {
        throw error;
      }
      // Nobody else may go on before our lease has lapsed, and by then its deadline might have passed.
      broker.log.warn(
        { err: error, operationId: claimed.operation.id },
        'a step is not stored yet',
      );
      await broker.sleep(STORE_PAUSE_MS, stopping).catch(() => undefined);
    }
  }
}

function isDatabaseAway(error: unknown): boolean {
  return error instanceof UpstreamError && error.system === 'database' && error.retryable;
}

/** The one row update after a step; harmless when it is made twice. */
type Write = () => Promise<ClaimedOperation | undefined>;

/** Never throws: what fails is the outcome. */
async function runStep(
  broker: Broker,
  claimed: ClaimedOperation,
  stopping: AbortSignal,
): Promise<Write> {
  const { operation } = claimed;
  const now = broker.clock();
  const leasedUntil = (): Date => addMs(broker.clock(), LEASE_MS);
  let position: Position | undefined;
  try {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(STEP_TIMEOUT_MS)]);
    const prepared = await prepare(broker, claimed);
    position = prepared.position;
    const outcome = await position.step.run({ ...prepared.context, now, signal });
    const end = { position, outcome, stopping };
    return () => settleOutcome(broker, claimed, { ...end, leasedUntil: leasedUntil() });
  } catch (error) {
    broker.log.warn(
      { err: error, operationId: operation.id, step: operation.step },
      'a step failed',
    );
    const end = { position, failure: stepFailure(error) };
    return () => settleFailure(broker, claimed, { ...end, leasedUntil: leasedUntil() });
  }
}

interface Prepared {
  readonly position: Position;
  readonly context: Omit<StepContext, 'now' | 'signal'>;
}

async function prepare(broker: Broker, { operation }: ClaimedOperation): Promise<Prepared> {
  const found = await findInstanceByKey(broker.db, operation.instanceKey);
  if (found === undefined) {
    throw new Error(`the instance of operation ${operation.id} is gone`);
  }
  const position = positionIn(
    stepsOfOperation(broker, found.instance, operation.type),
    operation.step,
  );
  if (position === undefined) {
    throw new Error(`an operation of type ${operation.type} has nothing to run`);
  }
  return {
    position,
    context: { runtime: broker.clusters.runtimeOf(found.instance), operation },
  };
}
