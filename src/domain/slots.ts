// Which grants count against an instance's limit of live bindings, and until when (docs/api.md, "Bind").
import type { Grant } from './binding.ts';
import { addSeconds } from './clock.ts';
import type { Plan } from './plan.ts';

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
  /**
   * The earliest end among those taken that can be told without the plan: of a credential its expiry, of an issue whose
   * request named a lifetime the expiry that this makes.
   */
  readonly nextFreeAt: Date | undefined;
  /** When the first of the issues was announced that leave their lifetime to the plan. */
  readonly firstByDefaultAt: Date | undefined;
}

/**
 * When a slot comes free though nobody does anything about it. For a grant that is still being issued this is the expiry
 * that was asked for, counted from its announcement. Not the end of its lease: that would be the answer if the issue
 * failed, and nearly all succeed, so callers would be sent back in half a minute to be told of ten more. A failure or a
 * DELETE frees the slot earlier, as it does with a credential. The token is made within the create limit after the
 * announcement, so its expiry can be those seconds later; whoever comes in between is told it to the second.
 * Asked only where a slot is taken, since each of these has a time.
 */
export function nextSlotFreesAt(slots: Slots, plan: Plan): Date {
  const { nextFreeAt, firstByDefaultAt } = slots;
  const byDefault = firstByDefaultAt && addSeconds(firstByDefaultAt, plan.binding.defaultSeconds);
  const times = [nextFreeAt, byDefault].flatMap((at) => (at === undefined ? [] : [at.getTime()]));
  return new Date(Math.min(...times));
}
