// How the making of a binding goes; bindings are synchronous, so this only tells what their state already says.
import { BrokerError } from '../domain/errors.ts';
import { instanceState } from '../domain/instance.ts';
import type { OperationState } from '../domain/operation.ts';
import { decideGetBindingOperation } from '../domain/binding-requests.ts';
import { findBinding } from '../storage/bind-facts.ts';
import type { BindingAddress } from './binding-address.ts';
import type { Broker } from './broker.ts';

export async function getBindingOperation(
  broker: Broker,
  request: BindingAddress,
): Promise<{ readonly state: OperationState }> {
  const found = await findBinding(broker.db, request);
  const decided = decideGetBindingOperation(
    { instance: found && instanceState(found.latest), binding: found?.binding },
    broker.clock(),
  );
  if (decided.decision === 'refuse') {
    throw new BrokerError(decided.refusal);
  }
  return { state: decided.state };
}
