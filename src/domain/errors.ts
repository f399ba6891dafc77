// The two kinds of expected failure. BrokerError: the request cannot be served, and its description is for the
// caller. UpstreamError: a system we depend on failed; its message is for operators and never leaves the process.
// Anything else that is thrown is a bug. Statuses are not known here: each surface maps codes on its own.

/** Closed union: a surface that maps codes does not compile until a new one is answered. */
export type BrokerErrorCode =
  | 'malformed-request'
  | 'unknown-plan'
  | 'invalid-parameters'
  | 'async-required'
  | 'maintenance-info-conflict'
  | 'concurrent-operation'
  | 'instance-not-found'
  | 'instance-gone'
  | 'instance-conflict'
  | 'instance-unusable'
  | 'instance-not-updateable'
  | 'update-not-supported'
  | 'binding-not-found'
  | 'binding-gone'
  | 'binding-conflict'
  | 'binding-not-supported'
  | 'expiration-out-of-bounds'
  | 'binding-limit-reached'
  | 'other-cluster'
  | 'create-limit-passed'
  | 'not-revoked-yet'
  | 'cluster-unavailable'
  | 'cluster-refused'
  | 'cluster-answers'
  | 'nothing-to-retry';

/** What a domain decision says when the answer is no. */
export interface Refusal {
  readonly code: BrokerErrorCode;
  /** A sentence for the caller: no host name, token, SQL or stack in it. */
  readonly description: string;
  /** Whole seconds after which a repeat may succeed; only with codes that are worth repeating. */
  readonly retryAfterSeconds?: number;
}

export class BrokerError extends Error {
  readonly code: BrokerErrorCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(refusal.description, options);
    this.name = 'BrokerError';
    this.code = refusal.code;
    this.retryAfterSeconds = refusal.retryAfterSeconds;
  }
}

export type UpstreamSystem = 'cluster' | 'database' | 'control-plane' | 'gardener';

/**
 * How a call to another system failed. `unauthorized` to `server-error` are its answers (HTTP 401, 403, 404, 409,
 * 422, 429, 5xx, any other); the rest never became one: no connection, TLS not agreed, no answer in time, cut
 * in the middle, cancelled by us, not what the protocol promises, or to an address that is never called.
 */
export type UpstreamReason =
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'invalid'
  | 'too-many-requests'
  | 'server-error'
  | 'unexpected-status'
  | 'unreachable'
  | 'tls'
  | 'timed-out'
  | 'cut'
  | 'cancelled'
  | 'malformed-answer'
  | 'address-refused';

export interface UpstreamFailure {
  readonly system: UpstreamSystem;
  /** What was being done, as verb and object: `create serviceaccounts`, `read grants`. No name of a tenant in it. */
  readonly action: string;
  readonly reason: UpstreamReason;
  /** For operators and logs; may name hosts, never a secret. */
  readonly detail: string;
  readonly status?: number;
  /** Whole seconds, from the system's own Retry-After. */
  readonly retryAfterSeconds?: number;
}

const RETRYABLE: ReadonlySet<UpstreamReason> = new Set([
  'too-many-requests',
  'server-error',
  'unreachable',
  'timed-out',
  'cut',
  'cancelled',
]);

export class UpstreamError extends Error {
  readonly system: UpstreamSystem;
  readonly action: string;
  readonly reason: UpstreamReason;
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(failure: UpstreamFailure, options?: ErrorOptions) {
    super(`${failure.system}: ${failure.action}: ${failure.detail}`, options);
    this.name = 'UpstreamError';
    this.system = failure.system;
    this.action = failure.action;
    this.reason = failure.reason;
    this.status = failure.status;
    this.retryAfterSeconds = failure.retryAfterSeconds;
  }

  /** Whether the same call may succeed later without anybody changing anything. */
  get retryable(): boolean {
    return RETRYABLE.has(this.reason);
  }
}
