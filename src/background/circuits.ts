// Which clusters are left alone for a while, since their last try said that nothing can be reached there. One cluster,
// one circuit, so that none waits for another's. Kept in this process: a replica that starts asks each cluster once.
import type { Clock } from '../domain/clock.ts';
import { addMs } from '../domain/clock.ts';
import { BrokerError, UpstreamError, type UpstreamReason } from '../domain/errors.ts';
import { retryDelayMs } from '../domain/retry-delay.ts';
import { StillHonouredError } from '../kubernetes/ask-with-token.ts';

/** What concerns every call to that cluster, and not one object on it. */
const OF_WHOLE_CLUSTER: ReadonlySet<UpstreamReason> = new Set([
  'unauthorized',
  'too-many-requests',
  'unreachable',
  'tls',
  'timed-out',
  'cut',
  'cancelled',
  'malformed-answer',
  'address-refused',
]);

interface Circuit {
  /** How often in a row it was opened. */
  readonly failures: number;
  readonly openUntil: Date;
}

export interface CircuitsParts {
  readonly clock: Clock;
  /** From [0, 1). */
  readonly drawFraction: () => number;
}

/** All by instance key. */
export class Circuits {
  readonly #parts: CircuitsParts;
  readonly #circuits = new Map<string, Circuit>();

  constructor(parts: CircuitsParts) {
    this.#parts = parts;
  }

  /** `half-open`: one may be tried, to see. */
  stateOf(instanceKey: string): 'closed' | 'open' | 'half-open' {
    const circuit = this.#circuits.get(instanceKey);
    if (circuit === undefined) {
      return 'closed';
    }
    return this.#parts.clock() < circuit.openUntil ? 'open' : 'half-open';
  }

  /** Those that are not closed. */
  keys(): Iterable<string> {
    return this.#circuits.keys();
  }

  /** To be told every failure. One that says nothing about the whole cluster changes nothing. */
  failed(instanceKey: string, error: unknown): void {
    if (!isOfWholeCluster(error)) {
      return;
    }
    const before = this.#circuits.get(instanceKey);
    const retryAfterSeconds = error instanceof UpstreamError ? error.retryAfterSeconds : undefined;
    // Those that were under way when it opened fail for the same reason, and are no further sign.
    const isNews = this.stateOf(instanceKey) !== 'open';
    const failures = (before?.failures ?? 0) + (isNews ? 1 : 0);
    const delayMs = retryDelayMs({
      count: failures,
      draw: this.#parts.drawFraction(),
      retryAfterSeconds,
    });
    const openUntil = addMs(this.#parts.clock(), delayMs);
    this.#circuits.set(instanceKey, {
      failures,
      openUntil:
        before !== undefined && before.openUntil > openUntil ? before.openUntil : openUntil,
    });
  }

  /** @returns whether it was not closed, so that others may have been waiting for it */
  succeeded(instanceKey: string): boolean {
    return this.#circuits.delete(instanceKey);
  }
}

/** Also what is no answer of a cluster at all: another one answers, the access cannot be opened, a bug of ours. */
function isOfWholeCluster(error: unknown): boolean {
  if (error instanceof StillHonouredError) {
    return false;
  }
  if (error instanceof UpstreamError) {
    return OF_WHOLE_CLUSTER.has(error.reason) || error.retryAfterSeconds !== undefined;
  }
  return !(error instanceof BrokerError) || error.code === 'other-cluster';
}
