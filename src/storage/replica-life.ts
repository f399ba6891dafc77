// When a replica counts as lost, for SQL: the rule itself is the domain's.
import { REPLICA_LOST_AFTER_MS } from '../domain/binding.ts';

/** A replica that lives was seen then or later. */
export function lastSeenOfLiving(now: Date): Date {
  return new Date(now.getTime() - REPLICA_LOST_AFTER_MS);
}
