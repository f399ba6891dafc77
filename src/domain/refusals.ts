// The refusals that more than one decision gives, worded once. Two sentences are fixed: old platforms recognise
// AsyncRequired and ConcurrencyError by these very texts (osb.md C29).
import type { Refusal } from './errors.ts';

export interface Refused {
  readonly decision: 'refuse';
  readonly refusal: Refusal;
}

export function refuse(refusal: Refusal): Refused {
  return { decision: 'refuse', refusal };
}

/**
 * When to repeat where no system names a time of its own: long enough to matter, short enough to be tried (contract 4,
 * "Limits of time").
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
