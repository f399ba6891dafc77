// Which grants count against an instance's limit of live bindings (docs/api.md, "Bind").
import type { Grant } from './binding.ts';

/**
 * From intent until the grant has ended or is past its expiry. One that never got a credential gives its slot back
 * with the committed order to undo it, undone or not; a lease that merely lapsed frees nothing.
 */
export function takesSlot(
  grant: Pick<Grant, 'expiresAt' | 'revokingSince' | 'endedAt'>,
  now: Date,
): boolean {
  if (grant.endedAt !== undefined) {
    return false;
  }
  return grant.expiresAt === undefined ? grant.revokingSince === undefined : grant.expiresAt > now;
}

export interface Slots {
  readonly taken: number;
  /** The earliest expiry among those taken; undefined when none of them has one yet. */
  readonly nextFreeAt: Date | undefined;
}
