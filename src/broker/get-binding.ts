// Hands out a live binding again. Every other state is "not found"; a fault of ours is never told as that.
import { BrokerError } from '../domain/errors.ts';
import { instanceState } from '../domain/instance.ts';
import { INSTANCE_NOT_FOUND } from '../domain/refusals.ts';
import { decideGetBinding } from '../domain/binding-requests.ts';
import { bindingHandedOutAgain } from '../observability/events.ts';
import { findBinding } from '../storage/bind-facts.ts';
import type { BindingAddress } from './binding-address.ts';
import type { Broker } from './broker.ts';
import type { HandedOutBinding } from './handed-out-binding.ts';
import { openBinding } from './open-binding.ts';

export interface GetBindingRequest extends BindingAddress {
  /** For the log: a fetch hands out an administrator's credential. */
  readonly requestedBy: string;
}

/** @throws BrokerError `binding-not-found`, `instance-not-found`; SealingError when the token cannot be opened */
export async function getBinding(
  broker: Broker,
  { requestedBy, ...address }: GetBindingRequest,
): Promise<HandedOutBinding> {
  const found = await findBinding(broker.db, address);
  if (found === undefined) {
    throw new BrokerError(INSTANCE_NOT_FOUND);
  }
  const { instance, latest, binding, sealedToken } = found;
  const decided = decideGetBinding({ instance: instanceState(latest), binding }, broker.clock());
  if (decided.decision === 'refuse') {
    throw new BrokerError(decided.refusal);
  }
  const opened = openBinding(broker, { instance, binding: decided.binding, sealedToken });
  bindingHandedOutAgain(broker.log, {
    ...address,
    grant: decided.binding.grant.name,
    requestedBy,
  });
  return opened;
}
