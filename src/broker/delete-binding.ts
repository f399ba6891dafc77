// Revokes a binding. The order is committed first, so that nothing is handed out any more and a late writer is fenced;
// then the cluster is told and asked. Success is only reported when the grant has ended.
import { BrokerError, UpstreamError } from '../domain/errors.ts';
import { type Instance, instanceState } from '../domain/instance.ts';
import { BINDING_GONE } from '../domain/refusals.ts';
import { decideDeleteBinding } from '../domain/binding-requests.ts';
import { findBinding } from '../storage/bind-facts.ts';
import { markBindingDeleted } from '../storage/bindings.ts';
import { inTransaction, type OpenTransaction } from '../storage/database.ts';
import { lockInstance } from '../storage/instances.ts';
import { SealingError } from '../storage/sealing.ts';
import { answerInTime } from './answer-in-time.ts';
import { awaitWriter } from './await-writer.ts';
import type { Broker } from './broker.ts';
import { notRevokedYet } from './cluster-refusals.ts';
import { finishRevocation } from './finish-revocation.ts';

export interface DeleteBindingRequest {
  readonly instanceId: string;
  readonly bindingId: string;
  readonly serviceId: string;
  readonly planId: string;
}

/**
 * A repeat goes on where the first one stopped.
 * @throws BrokerError `binding-gone`; `concurrent-operation` when an issue could not be stopped in time;
 *   `not-revoked-yet` when the cluster could not be reached or still honours the token: the order stands, and the next
 *   try is recorded
 */
export async function deleteBinding(broker: Broker, request: DeleteBindingRequest): Promise<void> {
  const limitMs = broker.limits.deleteTimeoutMs;
  const work = orderAndRevoke(broker, request, AbortSignal.timeout(limitMs - LAST_WRITE_MS));
  await answerInTime(broker, work, { limitMs, late: () => notRevokedYet(undefined) });
}

/** Of the limit: what storing the outcome may take once the cluster's part is over. */
const LAST_WRITE_MS = 1_000;

async function orderAndRevoke(
  broker: Broker,
  request: DeleteBindingRequest,
  signal: AbortSignal,
): Promise<void> {
  const work = () => inTransaction(broker.db, (tx) => order(broker, tx, request));
  const { instance, grantId } = await broker.turns.take(request.instanceId, work, signal);
  if (instance.serviceId !== request.serviceId || instance.planId !== request.planId) {
    broker.log.warn(
      { instanceId: request.instanceId, bindingId: request.bindingId },
      'the platform names another service or plan than the instance has',
    );
  }
  if (grantId === undefined) {
    return;
  }
  await awaitWriter(broker, grantId, signal);
  try {
    await finishRevocation(broker, { instance, grantId, signal });
  } catch (error) {
    throw isRevocationFailure(error) ? notRevokedYet(error) : error;
  }
}

/** What the cluster, its access or its identity say; a failing database or a bug is told as that. */
function isRevocationFailure(error: unknown): boolean {
  return (
    error instanceof BrokerError ||
    error instanceof SealingError ||
    (error instanceof UpstreamError && error.system !== 'database')
  );
}

interface Ordered {
  readonly instance: Instance;
  /** Undefined when nothing is left to revoke. */
  readonly grantId: string | undefined;
}

async function order(
  broker: Broker,
  tx: OpenTransaction,
  request: DeleteBindingRequest,
): Promise<Ordered> {
  if ((await lockInstance(tx, request.instanceId)) === undefined) {
    // Nothing holds whoever might bind the id in a new instance meanwhile.
    throw new BrokerError(BINDING_GONE);
  }
  const at = broker.clock();
  const found = await findBinding(tx, request);
  if (found?.binding === undefined) {
    throw new BrokerError(BINDING_GONE);
  }
  const { instance, latest, binding } = found;
  const decided = decideDeleteBinding({ instance: instanceState(latest), binding }, at);
  if (decided.decision === 'refuse') {
    throw new BrokerError(decided.refusal);
  }
  const grantId = binding.grant.id;
  await markBindingDeleted(tx, {
    instanceKey: instance.key,
    bindingId: request.bindingId,
    grantId,
    at,
  });
  return { instance, grantId: decided.decision === 'forget' ? undefined : grantId };
}
