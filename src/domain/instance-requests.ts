// PUT, GET and DELETE of an instance: what each is answered in each state of it (OSB 2.17, Provisioning, Fetching a
// Service Instance, Deprovisioning). tests/integration/instances/matrix.test.ts walks all states that can be reached.
import type { InstanceState } from './instance.ts';
import {
  ASYNC_REQUIRED,
  CONCURRENT_OPERATION,
  INSTANCE_GONE,
  INSTANCE_NOT_FOUND,
  type Refused,
  refuse,
} from './refusals.ts';

export interface CreateInstanceFacts {
  /** The instance that has this id now; undefined when there is none or the last one was deleted. */
  readonly current: { readonly state: InstanceState; readonly sameRequest: boolean } | undefined;
  readonly acceptsIncomplete: boolean;
}

/** `create`: 202 with a new operation; `inProgress`: 202 with the one that runs; `exists`: 200. */
export type CreateInstanceDecision =
  | { readonly decision: 'create' }
  | { readonly decision: 'inProgress' }
  | { readonly decision: 'exists' }
  | Refused;

const CONFLICT = {
  code: 'instance-conflict',
  description: 'A service instance with this id exists already, with other attributes.',
} as const;

const FAILED = {
  code: 'instance-conflict',
  description:
    'A service instance with this id failed. Delete it before an instance is created under the same id.',
} as const;

export function decideCreateInstance(facts: CreateInstanceFacts): CreateInstanceDecision {
  const { current, acceptsIncomplete } = facts;
  switch (current?.state) {
    case undefined:
    case 'deleted':
      return acceptsIncomplete ? { decision: 'create' } : refuse(ASYNC_REQUIRED);
    case 'provisioning':
      if (!acceptsIncomplete) {
        return refuse(ASYNC_REQUIRED);
      }
      return current.sameRequest ? { decision: 'inProgress' } : refuse(CONFLICT);
    case 'ready':
    case 'suspended':
      return current.sameRequest ? { decision: 'exists' } : refuse(CONFLICT);
    case 'updating':
    case 'suspending':
    case 'resuming':
      return refuse(acceptsIncomplete && !current.sameRequest ? CONFLICT : CONCURRENT_OPERATION);
    case 'deprovisioning':
      return refuse(CONCURRENT_OPERATION);
    case 'create-failed':
    case 'delete-failed':
      return refuse(FAILED);
  }
}

/** @returns whether GET shows the instance: from the first success until it is gone (OSB 2.17, Fetching). */
export function decideGetInstance(
  state: InstanceState | undefined,
): { readonly decision: 'show' } | Refused {
  switch (state) {
    case undefined:
    case 'deleted':
    case 'provisioning':
    case 'create-failed':
      return refuse(INSTANCE_NOT_FOUND);
    case 'ready':
    case 'updating':
    case 'suspending':
    case 'suspended':
    case 'resuming':
    case 'deprovisioning':
    case 'delete-failed':
      return { decision: 'show' };
  }
}

/** Bindings are not asked: they never block it. */
export interface DeleteInstanceFacts {
  readonly current: { readonly state: InstanceState; readonly serviceId: string } | undefined;
  readonly serviceId: string;
  readonly acceptsIncomplete: boolean;
}

/** `accept`: 202 with a new operation, which cancels a provisioning that runs; `inProgress`: 202 with the one that runs. */
export type DeleteInstanceDecision =
  | { readonly decision: 'accept'; readonly cancelsProvisioning: boolean }
  | { readonly decision: 'inProgress' }
  | Refused;

export function decideDeleteInstance(facts: DeleteInstanceFacts): DeleteInstanceDecision {
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
