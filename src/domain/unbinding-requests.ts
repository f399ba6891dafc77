// GET, DELETE and last_operation of a binding, by the second table of contract 4.
import { type Binding, type BindingState, bindingState } from './binding.ts';
import type { InstanceState } from './instance.ts';
import type { OperationState } from './operation.ts';
import {
  BINDING_GONE,
  BINDING_NOT_FOUND,
  INSTANCE_NOT_FOUND,
  type Refused,
  refuse,
} from './refusals.ts';

export interface BindingFacts {
  /** Of the instance that has the id now; `deleted` for the newest record of one that is gone. */
  readonly instance: InstanceState | undefined;
  readonly binding: Binding | undefined;
}

/** `revoke`: commit the order to end the grant, then end it. `forget`: nothing is left to end, the id is given back. */
export type UnbindDecision = { readonly decision: 'revoke' | 'forget' } | Refused;

export function decideUnbind({ instance, binding }: BindingFacts, now: Date): UnbindDecision {
  // What a deleted instance left behind is the operators' business, and no platform can act on it (contract 3).
  if (instance === undefined || instance === 'deleted' || binding === undefined) {
    return refuse(BINDING_GONE);
  }
  switch (bindingState(binding, now)) {
    case 'issuing':
    case 'failed-open':
    case 'live':
    case 'being-deleted':
      return { decision: 'revoke' };
    case 'expired':
      return binding.grant.endedAt === undefined ? { decision: 'revoke' } : { decision: 'forget' };
    case 'failed':
    case 'deleted':
      return refuse(BINDING_GONE);
  }
}

/** `show`: a credential may be handed out. Only what a platform may forget is answered as not found. */
export type FetchDecision = { readonly decision: 'show'; readonly binding: Binding } | Refused;

export function decideFetchBinding({ instance, binding }: BindingFacts, now: Date): FetchDecision {
  if (instance === undefined || instance === 'deleted') {
    return refuse(INSTANCE_NOT_FOUND);
  }
  if (binding === undefined || !handsOutCredentials(instance)) {
    return refuse(BINDING_NOT_FOUND);
  }
  return bindingState(binding, now) === 'live'
    ? { decision: 'show', binding }
    : refuse(BINDING_NOT_FOUND);
}

function handsOutCredentials(state: InstanceState): boolean {
  return state === 'ready' || state === 'updating';
}

export type BindingProgressDecision =
  | { readonly decision: 'report'; readonly state: OperationState }
  | Refused;

export function decideBindingProgress(
  { binding }: BindingFacts,
  now: Date,
): BindingProgressDecision {
  const progress = binding && PROGRESS[bindingState(binding, now)];
  return progress === undefined
    ? refuse(BINDING_NOT_FOUND)
    : { decision: 'report', state: progress };
}

const PROGRESS: Readonly<Record<BindingState, OperationState | undefined>> = {
  issuing: 'in progress',
  'failed-open': 'failed',
  failed: 'failed',
  live: 'succeeded',
  expired: 'succeeded',
  'being-deleted': undefined,
  deleted: undefined,
};
