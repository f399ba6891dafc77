// Accepts the deprovisioning of an instance. The transaction that accepts it ends all bindings, so none can be
// issued or handed out any more; taking their rights away on the cluster is the operation's first step.
import { addSeconds } from '../domain/clock.ts';
import { BrokerError } from '../domain/errors.ts';
import { decideDeleteInstance } from '../domain/instance-requests.ts';
import { instanceState } from '../domain/instance.ts';
import { INSTANCE_GONE } from '../domain/refusals.ts';
import { deprovisioningAccepted } from '../observability/events.ts';
import { endBindingsOfInstance } from '../storage/bindings.ts';
import { inTransaction, type OpenTransaction } from '../storage/database.ts';
import { findInstance, lockInstance } from '../storage/instances.ts';
import { cancelOperation, insertOperation } from '../storage/operations.ts';
import type { Broker } from './broker.ts';

export interface DeleteInstanceRequest {
  readonly instanceId: string;
  readonly serviceId: string;
  readonly planId: string;
  readonly acceptsIncomplete: boolean;
}

/**
 * A repeat answers with the operation that runs.
 * @throws BrokerError by the state of the instance (OSB 2.17, Deprovisioning)
 */
export async function deleteInstance(
  broker: Broker,
  request: DeleteInstanceRequest,
): Promise<{ readonly operationId: string }> {
  const { instanceId } = request;
  const work = () => inTransaction(broker.db, (tx) => accept(broker, tx, request));
  const { operationId, planId, accepted } = await broker.turns.take(instanceId, work);
  if (accepted !== undefined) {
    deprovisioningAccepted(broker.log, { instanceId, planId, operationId, ...accepted });
  }
  if (planId !== request.planId) {
    broker.log.warn({ instanceId }, 'the platform names another plan than the instance has');
  }
  return { operationId };
}

interface Answer {
  readonly operationId: string;
  /** The instance's own. */
  readonly planId: string;
  /** Undefined when an earlier request was accepted. */
  readonly accepted:
    | { readonly endingGrants: number; readonly cancelsProvisioning: boolean }
    | undefined;
}

async function accept(
  broker: Broker,
  tx: OpenTransaction,
  request: DeleteInstanceRequest,
): Promise<Answer> {
  const key = await lockInstance(tx, request.instanceId);
  const found = key === undefined ? undefined : await findInstance(tx, request.instanceId);
  const decided = decideDeleteInstance({
    current: found && { state: instanceState(found.latest), serviceId: found.instance.serviceId },
    serviceId: request.serviceId,
    acceptsIncomplete: request.acceptsIncomplete,
  });
  if (decided.decision === 'refuse') {
    throw new BrokerError(decided.refusal);
  }
  if (found === undefined) {
    throw new BrokerError(INSTANCE_GONE);
  }
  const { instance, latest } = found;
  if (decided.decision === 'inProgress') {
    return { operationId: latest.id, planId: instance.planId, accepted: undefined };
  }
  const now = broker.clock();
  if (decided.cancelsProvisioning) {
    await cancelOperation(tx, {
      id: latest.id,
      description: 'Provisioning was cancelled by a request to delete the instance.',
      at: now,
    });
  }
  const endingGrants = await endBindingsOfInstance(tx, { instanceKey: instance.key, at: now });
  const operationId = broker.draw.uuid();
  await insertOperation(tx, {
    id: operationId,
    instanceKey: instance.key,
    type: 'deprovision',
    description: 'Deprovisioning was accepted.',
    deadline: addSeconds(now, broker.provisioners.deprovisionSecondsOf(instance)),
    createdAt: now,
  });
  await broker.jobs.wake(tx, { operationId, at: now });
  const { cancelsProvisioning } = decided;
  return { operationId, planId: instance.planId, accepted: { endingGrants, cancelsProvisioning } };
}
