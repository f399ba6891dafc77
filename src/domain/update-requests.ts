// PATCH of an instance: the rows of the state matrix of instances, cell by cell (docs/api.md, "Change, suspend, resume").
// What of the request is a change is found out by the broker; here it is decided what follows from that.
import type { Refusal } from './errors.ts';
import type { InstanceState } from './instance.ts';
import type { JsonObject } from './json.ts';
import {
  ASYNC_REQUIRED,
  CONCURRENT_OPERATION,
  INSTANCE_NOT_FOUND,
  type Refused,
  refuse,
} from './refusals.ts';

/** What a PATCH asks for, against what the instance is now; of one that is being updated, against what it was. */
export interface AskedChange {
  readonly ofPlan: boolean;
  /** Of parameters or of the admin access. */
  readonly ofParameters: boolean;
  /** What `context.active` says; undefined where it says nothing. */
  readonly active: boolean | undefined;
}

export interface UpdateInstanceFacts {
  /** The instance that has this id now; undefined when there is none or the last one was deleted. */
  readonly current:
    | {
        readonly state: InstanceState;
        /** Its latest operation; of a suspended instance, what was left is not known then. */
        readonly latestFailed: boolean;
        /** An operator has said so, and it stays so. */
        readonly clusterIsGone: boolean;
      }
    | undefined;
  readonly asked: AskedChange;
  /** Parameters and access are those that the update which runs was accepted for. */
  readonly sameAsRunning: boolean;
  readonly acceptsIncomplete: boolean;
}

export type UpdateType = 'update' | 'suspend' | 'resume';

/** `start`: 202 with a new operation; `inProgress`: 202 with the one that runs; `nothing`: 200, the context is kept. */
export type UpdateInstanceDecision =
  | { readonly decision: 'start'; readonly type: UpdateType }
  | { readonly decision: 'inProgress' }
  | { readonly decision: 'nothing' }
  | Refused;

const NO_PLAN_CHANGE: Refusal = {
  code: 'update-not-supported',
  description: 'The plan of this service instance cannot be changed.',
};

const ONE_AT_A_TIME: Refusal = {
  code: 'update-not-supported',
  description:
    'A service instance cannot be suspended or resumed and changed in other ways by one request.',
};

const SUSPENDED: Refusal = {
  code: 'instance-not-updateable',
  description: 'The service instance is suspended; it must be resumed before it can be changed.',
};

const FAILED: Refusal = {
  code: 'instance-not-updateable',
  description: 'The service instance has failed; it can be deleted, and not be changed.',
};

const CLUSTER_GONE: Refusal = {
  code: 'instance-not-updateable',
  description:
    'The cluster of the service instance does not exist any more. It can be deleted, and not be changed.',
};

export function decideUpdateInstance(facts: UpdateInstanceFacts): UpdateInstanceDecision {
  const { current, asked, acceptsIncomplete } = facts;
  switch (current?.state) {
    case undefined:
    case 'deleted':
      return refuse(INSTANCE_NOT_FOUND);
    case 'provisioning':
    case 'deprovisioning':
      return refuse(CONCURRENT_OPERATION);
    case 'create-failed':
    case 'delete-failed':
      return refuse(FAILED);
    case 'updating':
    case 'suspending':
    case 'resuming':
      return decideBeside(current.state, facts);
    case 'ready':
    case 'suspended': {
      const type = current.state === 'ready' ? wantedOfReady(asked) : wantedOfSuspended(facts);
      return startUnless(current.clusterIsGone, { type, acceptsIncomplete });
    }
  }
}

/** Undefined: nothing changes. */
type Wanted = UpdateType | Refusal | undefined;

function wantedOfReady(asked: AskedChange): Wanted {
  const suspends = asked.active === false;
  if (asked.ofPlan) {
    return NO_PLAN_CHANGE;
  }
  if (asked.ofParameters) {
    return suspends ? ONE_AT_A_TIME : 'update';
  }
  return suspends ? 'suspend' : undefined;
}

/** After a failure nobody knows what of the runtime is there, so a repeat of the suspension has something to do. */
function wantedOfSuspended({ asked, current }: UpdateInstanceFacts): Wanted {
  if (asked.ofPlan || asked.ofParameters) {
    return SUSPENDED;
  }
  if (asked.active === true) {
    return 'resume';
  }
  return asked.active === false && current?.latestFailed === true ? 'suspend' : undefined;
}

function startUnless(
  clusterIsGone: boolean,
  { type, acceptsIncomplete }: { readonly type: Wanted; readonly acceptsIncomplete: boolean },
): UpdateInstanceDecision {
  if (type === undefined) {
    return { decision: 'nothing' };
  }
  if (typeof type !== 'string') {
    return refuse(type);
  }
  if (clusterIsGone) {
    return refuse(CLUSTER_GONE);
  }
  return acceptsIncomplete ? { decision: 'start', type } : refuse(ASYNC_REQUIRED);
}

function decideBeside(
  state: 'updating' | 'suspending' | 'resuming',
  facts: UpdateInstanceFacts,
): UpdateInstanceDecision {
  const { asked, acceptsIncomplete } = facts;
  // Of an instance that is being updated, "active" is what it is, and so no change.
  const switches = state === 'updating' ? asked.active === false : asked.active !== undefined;
  const isChange = asked.ofPlan || asked.ofParameters || switches;
  if (isChange && !acceptsIncomplete) {
    return refuse(ASYNC_REQUIRED);
  }
  return isRepeat(state, facts) ? { decision: 'inProgress' } : refuse(CONCURRENT_OPERATION);
}

function isRepeat(
  state: 'updating' | 'suspending' | 'resuming',
  { asked, sameAsRunning }: UpdateInstanceFacts,
): boolean {
  if (asked.ofPlan) {
    return false;
  }
  return state === 'updating'
    ? asked.ofParameters && sameAsRunning && asked.active !== false
    : !asked.ofParameters && asked.active === (state === 'resuming');
}

/** Key by key at the top level: what is given replaces what was there, what is not given stays. */
export function mergedParameters(current: JsonObject, given: JsonObject): JsonObject {
  return { ...current, ...given };
}
