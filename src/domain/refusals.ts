// The refusals that more than one decision gives, worded once. Two sentences are fixed: old platforms recognise
// AsyncRequired and ConcurrencyError by these very texts (C29).
import type { Refusal } from './errors.ts';

export interface Refused {
  readonly decision: 'refuse';
  readonly refusal: Refusal;
}

export function refuse(refusal: Refusal): Refused {
  return { decision: 'refuse', refusal };
}

/**
 * When to repeat where no system names a time of its own: long enough to matter, short enough to be tried
 * (docs/api.md, "What holds for all OSB routes").
 */
export const RETRY_AFTER_SECONDS = 5;

export const ASYNC_REQUIRED: Refusal = {
  code: 'async-required',
  description: 'This service plan requires client support for asynchronous service operations.',
};

export const CONCURRENT_OPERATION: Refusal = {
  code: 'concurrent-operation',
  description:
    'The Service Broker does not support concurrent requests that mutate the same resource.',
};

export const INSTANCE_NOT_FOUND: Refusal = {
  code: 'instance-not-found',
  description: 'There is no service instance with this id.',
};

export const INSTANCE_GONE: Refusal = {
  code: 'instance-gone',
  description: 'The service instance does not exist any more.',
};

export const BINDING_NOT_FOUND: Refusal = {
  code: 'binding-not-found',
  description: 'There is no service binding with this id.',
};

export const BINDING_GONE: Refusal = {
  code: 'binding-gone',
  description: 'The service binding does not exist any more.',
};

export const NOTHING_TO_RETRY: Refusal = {
  code: 'nothing-to-retry',
  description:
    'Nothing of this service binding is being revoked. To end its credential, delete the binding, or all of the instance.',
};

export const CLUSTER_ANSWERS: Refusal = {
  code: 'cluster-answers',
  description:
    'The cluster answers, and it is the one that was attached. Credentials on it would go on working; revoke them instead.',
};

export const NO_CLUSTER_ATTACHED: Refusal = {
  code: 'instance-unusable',
  description: 'No cluster was ever attached to the service instance, so nothing is left on one.',
};
