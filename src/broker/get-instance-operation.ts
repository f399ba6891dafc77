// How an instance's operation goes; read-only and cheap, since platforms poll it.
import { BrokerError } from '../domain/errors.ts';
import { leftByFailure, type LeftByFailure } from '../domain/instance.ts';
import type { OperationState } from '../domain/operation.ts';
import { INSTANCE_GONE, INSTANCE_NOT_FOUND } from '../domain/refusals.ts';
import { findInstance } from '../storage/instances.ts';
import { findOperationOfInstance } from '../storage/operations.ts';
import type { Broker } from './broker.ts';

export interface InstanceOperation {
  readonly state: OperationState;
  readonly description: string;
  /** Undefined unless an update or a deletion has failed. */
  readonly left: LeftByFailure | undefined;
}

/** How long `succeeded` is told after a delete; later the instance is gone (C113). */
const TOMBSTONE_MS = 24 * 60 * 60 * 1000;

/** An unknown operation id means the latest one: some platforms send words of their own (C116). */
export async function getInstanceOperation(
  broker: Broker,
  request: { readonly instanceId: string; readonly operationId: string | undefined },
): Promise<InstanceOperation> {
  const { instanceId, operationId } = request;
  const found = await findInstance(broker.db, instanceId);
  if (found === undefined) {
    throw new BrokerError(INSTANCE_NOT_FOUND);
  }
  const { deletedAt } = found.instance;
  if (deletedAt !== undefined && broker.clock().getTime() - deletedAt.getTime() > TOMBSTONE_MS) {
    throw new BrokerError(INSTANCE_GONE);
  }
  const named =
    operationId === undefined || operationId === found.latest.id
      ? undefined
      : await findOperationOfInstance(broker.db, { instanceId, operationId });
  const operation = named ?? found.latest;
  const { state, description } = operation;
  return { state, description, left: leftByFailure(operation) };
}
