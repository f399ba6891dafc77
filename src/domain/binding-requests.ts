// PUT, GET, DELETE and last_operation of a binding (docs/api.md, "Bind" and on). For PUT the rules are small named
// checks in the order of the table; the first that has something to say decides. Pure: what is known and what time it
// is come in, a decision goes out.
import { type Binding, type BindingState, bindingState, type Grant } from './binding.ts';
import type { Refusal } from './errors.ts';
import type { InstanceState } from './instance.ts';
import type { OperationState } from './operation.ts';
import type { Plan } from './plan.ts';
import {
  BINDING_GONE,
  BINDING_NOT_FOUND,
  CONCURRENT_OPERATION,
  INSTANCE_NOT_FOUND,
  type Refused,
  refuse,
} from './refusals.ts';
import { nextSlotFreesAt, type Slots } from './slots.ts';
import { toWireTime } from './wire-time.ts';

export interface BindRequest {
  readonly serviceId: string;
  readonly planId: string;
  /** What the request said; undefined where it said nothing. Form was checked before. */
  readonly expirationSeconds: number | undefined;
}

export interface CreateBindingFacts {
  /** One that is unknown is answered before this is asked. */
  readonly instance: {
    readonly serviceId: string;
    readonly planId: string;
    readonly state: InstanceState;
    /** An operator has said so, and it stays so. */
    readonly clusterIsGone: boolean;
  };
  /** The instance's plan; the catalog is not asked, so a plan that has left it still counts. */
  readonly plan: Plan | undefined;
  readonly binding: Binding | undefined;
  readonly slots: Slots;
}

/**
 * `issue`: announce a grant, then make it. `same`: hand out what there is. `wait`: another request is issuing it.
 * `takeOver`: end what is left of `grant` first, then decide again; where it cannot be ended now, the answer is
 * `otherwise`, or the cluster's own failure when that is undefined.
 */
export type CreateBindingDecision =
  | {
      readonly decision: 'issue';
      readonly expirationSeconds: number;
      /** Where the plan wants the account to live. */
      readonly namespace: string;
    }
  | { readonly decision: 'same'; readonly binding: Binding }
  | { readonly decision: 'wait'; readonly grant: Grant }
  | {
      readonly decision: 'takeOver';
      readonly grant: Grant;
      readonly otherwise: Refusal | undefined;
    }
  | Refused;

export function decideCreateBinding(
  facts: CreateBindingFacts,
  request: BindRequest,
  now: Date,
): CreateBindingDecision {
  const refusal = refuseByInstance(facts, request);
  if (refusal !== undefined) {
    return refuse(refusal);
  }
  const state = facts.binding && bindingState(facts.binding, now);
  return decideByBinding(facts, request, state) ?? decideNew(facts, request, state);
}

function refuseByInstance(facts: CreateBindingFacts, request: BindRequest): Refusal | undefined {
  const { instance } = facts;
  if (instance.state === 'deleted') {
    return INSTANCE_NOT_FOUND;
  }
  if (instance.serviceId !== request.serviceId || instance.planId !== request.planId) {
    return {
      code: 'unknown-plan',
      description: 'service_id and plan_id must be those of the service instance.',
    };
  }
  return refuseByState(instance.state) ?? (instance.clusterIsGone ? CLUSTER_GONE : undefined);
}

const CLUSTER_GONE: Refusal = {
  code: 'instance-unusable',
  description:
    'The cluster of the service instance does not exist any more; no binding can be made for it. Delete the instance.',
};

function refuseByState(state: Exclude<InstanceState, 'deleted'>): Refusal | undefined {
  switch (state) {
    case 'provisioning':
    case 'deprovisioning':
    case 'suspending':
    case 'resuming':
      return CONCURRENT_OPERATION;
    case 'create-failed':
    case 'delete-failed':
      return {
        code: 'instance-unusable',
        description: 'The service instance has failed; no binding can be made for it.',
      };
    case 'suspended':
      return {
        code: 'instance-unusable',
        description: 'The service instance is suspended; no binding can be made for it.',
      };
    case 'updating':
    case 'ready':
      return undefined;
  }
}

function decideByBinding(
  { binding }: CreateBindingFacts,
  request: BindRequest,
  state: BindingState | undefined,
): CreateBindingDecision | undefined {
  if (binding === undefined) {
    return undefined;
  }
  const sameParameters = binding.expirationSeconds === request.expirationSeconds;
  switch (state) {
    case 'live':
      return sameParameters ? { decision: 'same', binding } : refuse(CONFLICT);
    case 'issuing':
      return sameParameters ? { decision: 'wait', grant: binding.grant } : refuse(CONFLICT);
    case 'being-deleted':
    case 'failed-open':
      return { decision: 'takeOver', grant: binding.grant, otherwise: CONCURRENT_OPERATION };
    case 'expired':
    case 'failed':
    case 'deleted':
    case undefined:
      return undefined;
  }
}

const CONFLICT: Refusal = {
  code: 'binding-conflict',
  description: 'A service binding with this id exists already, with other parameters.',
};

/** Something new would be issued: only now are today's rules asked, so that they never refuse a repeat. */
function decideNew(
  { plan, binding, slots }: CreateBindingFacts,
  request: BindRequest,
  state: BindingState | undefined,
): CreateBindingDecision {
  if (plan?.bindable !== true) {
    return refuse(NOT_SUPPORTED);
  }
  const expirationSeconds = request.expirationSeconds ?? plan.binding.defaultSeconds;
  const refusal = refuseByBounds(plan, request) ?? refuseBySlots(plan, slots);
  if (refusal !== undefined) {
    return refuse(refusal);
  }
  if (state === 'expired' && binding !== undefined && binding.grant.endedAt === undefined) {
    return { decision: 'takeOver', grant: binding.grant, otherwise: undefined };
  }
  return { decision: 'issue', expirationSeconds, namespace: plan.namespace };
}

const NOT_SUPPORTED: Refusal = {
  code: 'binding-not-supported',
  description: 'The plan of this service instance does not support bindings.',
};

function refuseByBounds(plan: Plan, request: BindRequest): Refusal | undefined {
  const { minSeconds, maxSeconds } = plan.binding;
  const seconds = request.expirationSeconds;
  if (seconds !== undefined && seconds < minSeconds) {
    return outOfBounds(`less than ${minSeconds}`);
  }
  return seconds !== undefined && seconds > maxSeconds
    ? outOfBounds(`greater than ${maxSeconds}`)
    : undefined;
}

function outOfBounds(limit: string): Refusal {
  return {
    code: 'expiration-out-of-bounds',
    description: `expiration_seconds cannot be ${limit}`,
  };
}

function refuseBySlots(plan: Plan, slots: Slots): Refusal | undefined {
  if (slots.taken < plan.binding.maxLive) {
    return undefined;
  }
  // A limit is one at least (config/plan-settings.ts), so a slot is taken here.
  const freesAt = toWireTime(nextSlotFreesAt(slots, plan));
  return {
    code: 'binding-limit-reached',
    description: `maximum number of non expired bindings reached: ${plan.binding.maxLive}; next slot frees at ${freesAt}`,
  };
}

export interface BindingFacts {
  /** Of the instance that has the id now; `deleted` for the newest record of one that is gone. */
  readonly instance: InstanceState | undefined;
  readonly binding: Binding | undefined;
}

/** `revoke`: commit the order to end the grant, then end it. `forget`: nothing is left to end, the id is given back. */
export type DeleteBindingDecision = { readonly decision: 'revoke' | 'forget' } | Refused;

export function decideDeleteBinding(
  { instance, binding }: BindingFacts,
  now: Date,
): DeleteBindingDecision {
  // What a deleted instance left behind is the operators' business, and no platform can act on it.
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
export type GetBindingDecision = { readonly decision: 'show'; readonly binding: Binding } | Refused;

export function decideGetBinding(
  { instance, binding }: BindingFacts,
  now: Date,
): GetBindingDecision {
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

export type GetBindingOperationDecision =
  | { readonly decision: 'report'; readonly state: OperationState }
  | Refused;

export function decideGetBindingOperation(
  { binding }: BindingFacts,
  now: Date,
): GetBindingOperationDecision {
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
