// Ids in the path, as the router decoded them, once (contract 1, "Ids").
import { type Static, Type } from 'typebox';

import { osbIdFault } from '../../domain/osb-id.ts';
import { type HttpRefusal, malformed } from '../refusal.ts';

/** Only the mount for several regions has one. */
const REGION = Type.Optional(Type.String());

export const InstancePath = Type.Object({ region: REGION, instance_id: Type.String() });

export const BindingPath = Type.Object({
  region: REGION,
  instance_id: Type.String(),
  binding_id: Type.String(),
});

export type OsbPath = Partial<Static<typeof BindingPath>>;

const REGION_FORM = /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/;

export function pathRefusal(path: OsbPath): HttpRefusal | undefined {
  for (const name of ['instance_id', 'binding_id'] as const) {
    const id = path[name];
    const fault = id === undefined ? undefined : osbIdFault(id);
    if (fault !== undefined) {
      return malformed(`The ${name} in the path ${fault}.`);
    }
  }
  return path.region === undefined || REGION_FORM.test(path.region)
    ? undefined
    : malformed('The region in the path must be up to 63 letters, digits and dashes.');
}
