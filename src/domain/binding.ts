// A binding is the promise of a kubeconfig; a grant is one attempt to keep it. The binding's state is not stored:
// it follows from its current grant and the time, so that no sweeper has to run for an answer to be true
// (docs/decisions/no-state-column.md).

/** The objects of one attempt on the cluster, by the uids the cluster gave them. */
export interface GrantUids {
  readonly account: string;
  readonly role: string;
  readonly roleBinding: string;
}

export interface Grant {
  readonly id: string;
  /** Name of all its objects on the cluster; drawn per attempt and never used again. */
  readonly name: string;
  readonly instanceKey: string;
  readonly bindingId: string;
  readonly namespace: string;
  /** When it was announced; also the time inside the mark on its objects. */
  readonly intendedAt: Date;
  /** Until then its writer may be at work. */
  readonly issuingUntil: Date;
  /** When the replica that writes it was last seen; undefined when that replica is not known any more. */
  readonly replicaSeenAt: Date | undefined;
  /** Undefined until the outcome was stored, as are the two below. */
  readonly uids: GrantUids | undefined;
  readonly issuedAt: Date | undefined;
  readonly expiresAt: Date | undefined;
  /** A committed order to undo or revoke it; fences its writer. */
  readonly revokingSince: Date | undefined;
  /** Nothing of it with rights is left on the cluster. */
  readonly endedAt: Date | undefined;
}

export interface Binding {
  readonly instanceKey: string;
  readonly id: string;
  /** What the request said, not what it came to mean: undefined where it left the lifetime to us. */
  readonly expirationSeconds: number | undefined;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly deletedAt: Date | undefined;
  readonly grant: Grant;
}

/**
 * `issuing`: a writer is at work. `failed-open`: its issue failed or died and is not undone. `failed`: undone.
 * `live`: its credential works. `being-deleted`: asked to end, not ended. `expired`, `deleted`: as they say.
 */
export type BindingState =
  | 'issuing'
  | 'failed-open'
  | 'failed'
  | 'live'
  | 'being-deleted'
  | 'expired'
  | 'deleted';

/** Three missed beats of two seconds: one is a hiccup, three are a dead process. A false alarm costs a take-over. */
export const REPLICA_LOST_AFTER_MS = 6_000;

/** Whether nobody is at work on this issue any more (docs/architecture.md, "One binding, walked"). */
export function issueIsDead(grant: Grant, now: Date): boolean {
  if (grant.issuingUntil <= now || grant.replicaSeenAt === undefined) {
    return true;
  }
  return now.getTime() - grant.replicaSeenAt.getTime() > REPLICA_LOST_AFTER_MS;
}

/** From then on `issueIsDead`, unless the replica was seen again meanwhile. */
export function issueDiesAt({ issuingUntil, replicaSeenAt = NEVER }: Grant): Date {
  const lostAt = new Date(replicaSeenAt.getTime() + REPLICA_LOST_AFTER_MS + 1);
  return issuingUntil < lostAt ? issuingUntil : lostAt;
}

const NEVER = new Date(0);

/** Whether a writer is at work that will itself store an outcome, or undo what it made when it finds itself fenced. */
export function isBeingWritten(grant: Grant, now: Date): boolean {
  return grant.endedAt === undefined && grant.expiresAt === undefined && !issueIsDead(grant, now);
}

export function bindingState(binding: Binding, now: Date): BindingState {
  const { grant } = binding;
  if (binding.deletedAt !== undefined) {
    return grant.endedAt === undefined ? 'being-deleted' : 'deleted';
  }
  if (grant.expiresAt === undefined) {
    return stateWithoutCredential(grant, now);
  }
  if (grant.expiresAt <= now) {
    return 'expired';
  }
  if (grant.endedAt !== undefined) {
    return 'deleted';
  }
  return grant.revokingSince === undefined ? 'live' : 'being-deleted';
}

function stateWithoutCredential(grant: Grant, now: Date): BindingState {
  if (grant.endedAt !== undefined) {
    return 'failed';
  }
  if (grant.revokingSince !== undefined || issueIsDead(grant, now)) {
    return 'failed-open';
  }
  return 'issuing';
}
