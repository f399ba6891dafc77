// While the broker cannot serve (its database is away, or the schema is not migrated), nothing gets past the door.
// On the operator's listener it stands behind the probes, which go on telling why.
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
