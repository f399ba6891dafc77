// What an object on a cluster that carries our labels is, and what is to be done about it. Labels and annotations lie in
// a tenant's hands, so nothing is removed for what they say alone; looking at clusters and rows is left to others.
import { addMs } from './clock.ts';

/** What the ledger knows of the grant that has the object's name. */
export interface OrphanRow {
  /** The grant's objects belong on this cluster and, of an account, in this namespace. */
  readonly isOfThisPlace: boolean;
  /** Of this kind of object, as recorded at issue; undefined where there was no outcome. */
  readonly uid: string | undefined;
  readonly hasEnded: boolean;
  /** A reconciler will look at it again by itself, ended or not. */
  readonly isToBeLookedAt: boolean;
  /** Its instance cannot end anything on the cluster any more: it is deleted, or its cluster was declared gone. */
  readonly isOutOfReach: boolean;
}

export interface OrphanFacts {
  readonly uid: string;
  /** The time inside the object's mark; undefined where it has none that only this installation can have made. */
  readonly markedAt: Date | undefined;
  /** Undefined where no row has its name. Read after the object was seen, since a row precedes its objects. */
  readonly row: OrphanRow | undefined;
  /** When an operator last confirmed for this cluster that an older database was restored. */
  readonly restoreConfirmedAt: Date | undefined;
}

/**
 * `leave`: its row owns it, and ends it in time. `report`: our labels, and no proof that it is ours. `foreign`: it has
 * the name of a grant whose object it is not. `reopen`: its row has ended without an outcome, so that nobody would look
 * for it: the grant is made unfinished again. `wait`: too young to be judged. `suspect-restore`: its row cannot have been
 * pruned yet, so the database is older than the object. `remove`: ours, and without a row; or its row recorded it and has
 * ended, so that an older state of the cluster must have brought it back; or its row would have to be reopened, and its
 * instance could do nothing about it, while the one that the cluster is looked through for can.
 */
export type OrphanDecision =
  | 'leave'
  | 'report'
  | 'foreign'
  | 'reopen'
  | 'wait'
  | 'suspect-restore'
  | 'remove';

/** Ended rows stay a day (`prune-history`); a grant ends after it was announced, so its mark is older still. */
const ROWS_STAY_MS = 24 * 60 * 60 * 1000;

/** By how much the clocks of the replica that marked it and of the one that pruned its row may differ, with much room. */
const CLOCK_SLACK_MS = 60 * 1000;

/**
 * Rows are committed before their objects, so an object without one is no issue in progress, however young. The guard
 * is for what we have not thought of: no issue, undo and repeat of it together take this long.
 */
const AGE_GUARD_MS = 5 * 60 * 1000;

export function decideOrphan(facts: OrphanFacts, now: Date): OrphanDecision {
  const { markedAt, row } = facts;
  if (markedAt === undefined) {
    return 'report';
  }
  return row === undefined ? withoutRow(facts, markedAt, now) : withRow(facts.uid, row);
}

function withRow(uid: string, row: OrphanRow): OrphanDecision {
  if (!row.isOfThisPlace || (row.uid !== undefined && row.uid !== uid)) {
    return 'foreign';
  }
  if (!row.hasEnded || row.isToBeLookedAt) {
    return 'leave';
  }
  return row.uid === undefined && !row.isOutOfReach ? 'reopen' : 'remove';
}

function withoutRow(
  { restoreConfirmedAt }: OrphanFacts,
  markedAt: Date,
  now: Date,
): OrphanDecision {
  if (markedAt > addMs(now, -AGE_GUARD_MS)) {
    return 'wait';
  }
  // What was marked after the confirmation, and has no row, shows another restore than the one that was confirmed.
  const isConfirmed = restoreConfirmedAt !== undefined && markedAt <= restoreConfirmedAt;
  const mustHaveRow = markedAt > addMs(now, CLOCK_SLACK_MS - ROWS_STAY_MS);
  return mustHaveRow && !isConfirmed ? 'suspect-restore' : 'remove';
}
