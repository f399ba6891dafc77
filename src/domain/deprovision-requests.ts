// DELETE of an instance, by the state matrix of osb.md S. Bindings are not asked: they never block it.
import type { InstanceState } from './instance.ts';
import {
  ASYNC_REQUIRED,
  CONCURRENT_OPERATION,
  INSTANCE_GONE,
  type Refused,
  refuse,
} from './refusals.ts';

export interface DeprovisionFacts {
  readonly current: { readonly state: InstanceState; readonly serviceId: string } | undefined;
  readonly serviceId: string;
  readonly acceptsIncomplete: boolean;
}

/** `accept`: 202 with a new operation, which cancels a provisioning that runs; `inProgress`: 202 with the one that runs. */
export type DeprovisionDecision =
  | { readonly decision: 'accept'; readonly cancelsProvisioning: boolean }
  | { readonly decision: 'inProgress' }
  | Refused;

export function decideDeprovision(facts: DeprovisionFacts): DeprovisionDecision {
  const { current } = facts;
  if (current === undefined || current.state === 'deleted') {
    return refuse(INSTANCE_GONE);
  }
  // A wrong plan_id is let through, since a plan may have moved under the platform; a wrong service never does.
  if (current.serviceId !== facts.serviceId) {
    return refuse({
      code: 'unknown-plan',
      description: 'The service_id is not the one of this service instance.',
    });
  }
  if (!facts.acceptsIncomplete) {
    return refuse(ASYNC_REQUIRED);
  }
  switch (current.state) {
    case 'deprovisioning':
      return { decision: 'inProgress' };
    case 'updating':
    case 'suspending':
    case 'resuming':
      return refuse(CONCURRENT_OPERATION);
    case 'provisioning':
      return { decision: 'accept', cancelsProvisioning: true };
    case 'ready':
    case 'suspended':
    case 'create-failed':
    case 'delete-failed':
      return { decision: 'accept', cancelsProvisioning: false };
  }
}
