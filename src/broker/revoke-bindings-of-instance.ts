// An operator ends all bindings of an instance. One transaction orders it, so that none of them is handed out any more;
// then as many as the time of a request allows are revoked, and the reconciler goes on with the rest.
import { BrokerError } from '../domain/errors.ts';
import { INSTANCE_NOT_FOUND } from '../domain/refusals.ts';
import { bindingsRevokedByOperator } from '../observability/events.ts';
import { endBindingsOfInstance } from '../storage/bindings.ts';
import { inTransaction } from '../storage/database.ts';
import { insertEvent } from '../storage/events.ts';
import { findInstance, lockInstanceByKey } from '../storage/instances.ts';
import type { Broker } from './broker.ts';
import type { OperatorOrder } from './operator-order.ts';
import { type RevokedInTime, revokeAllInTime } from './revoke-grants.ts';

export interface RevokedBindings extends RevokedInTime {
  /** By this request: of those that had not been ordered to end before. */
  readonly ordered: number;
}

/**
 * Of the record that has the OSB id now, else of the one that was deleted last. A repeat goes on with what is left.
 * @throws BrokerError `instance-not-found`
 */
export async function revokeBindingsOfInstance(
  broker: Broker,
  { instanceId, actor, reason }: OperatorOrder,
): Promise<RevokedBindings> {
  const found = await findInstance(broker.db, instanceId);
  if (found === undefined) {
    throw new BrokerError(INSTANCE_NOT_FOUND);
  }
  const { instance } = found;
  const instanceKey = instance.key;
  const ordered = await inTransaction(broker.db, async (tx) => {
    await lockInstanceByKey(tx, instanceKey);
    const at = broker.clock();
    const event = { at, type: 'bindings-revoked', actor, reason, instanceKey, instanceId };
    await insertEvent(tx, event);
    return await endBindingsOfInstance(tx, { instanceKey, at });
  });
  bindingsRevokedByOperator(broker.log, { instanceId, ordered, actor, reason });
  return { ordered, ...(await revokeAllInTime(broker, instance)) };
}
