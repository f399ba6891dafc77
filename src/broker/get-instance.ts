// Shows an instance as it was requested, without secrets.
import { BrokerError } from '../domain/errors.ts';
import { instanceState } from '../domain/instance.ts';
import type { JsonObject } from '../domain/json.ts';
import { decideGetInstance } from '../domain/instance-requests.ts';
import { INSTANCE_NOT_FOUND } from '../domain/refusals.ts';
import { findInstance } from '../storage/instances.ts';
import type { Broker } from './broker.ts';

export interface ShownInstance {
  readonly serviceId: string;
  readonly planId: string;
  readonly parameters: JsonObject;
}

/** @throws BrokerError `instance-not-found` before the first success, after a failed one, and once deleted */
export async function getInstance(
  broker: Broker,
  request: { readonly instanceId: string },
): Promise<ShownInstance> {
  const found = await findInstance(broker.db, request.instanceId);
  const decided = decideGetInstance(found && instanceState(found.latest));
  if (decided.decision === 'refuse') {
    throw new BrokerError(decided.refusal);
  }
  if (found === undefined) {
    throw new BrokerError(INSTANCE_NOT_FOUND);
  }
  const { serviceId, planId, parameters } = found.instance;
  return { serviceId, planId, parameters };
}
