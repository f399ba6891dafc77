// While the broker cannot serve (its database is away, or the schema is not migrated), nothing gets past the door.
// Probes are on the operator's listener, which has no gate.
import { type HttpRefusal, retryAfter } from './refusal.ts';

/** True while requests can be served. */
export type IsServing = () => boolean;

export function gateRefusal(isServing: IsServing): HttpRefusal | undefined {
  return isServing()
    ? undefined
    : {
        status: 503,
        description: 'The broker cannot serve requests at the moment. Try again later.',
        headers: retryAfter(),
      };
}
