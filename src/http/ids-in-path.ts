// Ids in a path, as the router decoded them, once (docs/api.md, "What holds for all OSB routes").
import { osbIdFault } from '../domain/osb-id.ts';
import { type HttpRefusal, malformed } from './refusal.ts';

/** Whatever a path has of them. */
export interface IdsInPath {
  readonly instance_id?: string;
  readonly binding_id?: string;
}

export function idsRefusal(path: IdsInPath): HttpRefusal | undefined {
  for (const name of ['instance_id', 'binding_id'] as const) {
    const id = path[name];
    const fault = id === undefined ? undefined : osbIdFault(id);
    if (fault !== undefined) {
      return malformed(`The ${name} in the path ${fault}.`);
    }
  }
  return undefined;
}
