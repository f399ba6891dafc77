// What stands in the paths of OSB, as the router decoded it, once.
import { type Static, Type } from 'typebox';

import { idsRefusal } from '../ids-in-path.ts';
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
  const refusal = idsRefusal(path);
  if (refusal !== undefined) {
    return refusal;
  }
  return path.region === undefined || REGION_FORM.test(path.region)
    ? undefined
    : malformed('The region in the path must be up to 63 letters, digits and dashes.');
}
