// PUT and GET of an instance: what the state matrix of osb.md S says, cell by cell.
import type { InstanceState } from './instance.ts';
import {
  ASYNC_REQUIRED,
  CONCURRENT_OPERATION,
  INSTANCE_NOT_FOUND,
  type Refused,
  refuse,
} from './refusals.ts';

export interface ProvisionFacts {
  /** The instance that has this id now; undefined when there is none or the last one was deleted. */
  readonly current: { readonly state: InstanceState; readonly sameRequest: boolean } | undefined;
  readonly acceptsIncomplete: boolean;
}

/** `create`: 202 with a new operation; `inProgress`: 202 with the one that runs; `exists`: 200. */
export type ProvisionDecision =
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

export function decideProvision(facts: ProvisionFacts): ProvisionDecision {
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
      return refuse(acceptsIncomplete ? CONFLICT : CONCURRENT_OPERATION);
    case 'deprovisioning':
      return refuse(CONCURRENT_OPERATION);
    case 'create-failed':
    case 'delete-failed':
      return refuse(FAILED);
  }
}

/** @returns whether GET shows the instance: from the first success until it is gone (OSB 2.17, Fetching). */
export function decideFetchInstance(
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
