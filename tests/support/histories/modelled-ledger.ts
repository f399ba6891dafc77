// The rows of the bindings of one instance, and the guarded writes to them, by the domain's own rules.
import {
  type Binding,
  type Grant,
  isBeingWritten,
  issueIsDead,
} from '../../../src/domain/binding.ts';
import { addMs, addSeconds } from '../../../src/domain/clock.ts';
import { retryDelayMs } from '../../../src/domain/retry-delay.ts';
import { type Slots, takesSlot } from '../../../src/domain/slots.ts';
import type { SeenGrant } from './world.ts';

/** The create limit of 15 s and as much again. */
const LEASE_SECONDS = 30;

/** After the lease, until no call of a paused writer can be on its way any more. */
const LAST_LOOK_SECONDS = 60;

export interface Row {
  grant: Grant;
  /** Undefined: nothing is left to do. */
  nextTryAt: Date | undefined;
  tries: number;
  /** Whether the replica that writes it beats. */
  readonly isSeen: boolean;
}

interface Promised {
  readonly expirationSeconds: number | undefined;
  readonly row: Row;
  deletedAt: Date | undefined;
}

export class ModelledLedger {
  readonly rows: Row[] = [];
  readonly #promises = new Map<string, Promised>();

  announce(
    order: {
      readonly binding: string;
      readonly seconds: number | undefined;
      readonly isSeen: boolean;
    },
    now: Date,
  ): Row {
    const name = `${order.binding}${this.rows.length + 1}`;
    const issuingUntil = addSeconds(now, LEASE_SECONDS);
    const row: Row = {
      grant: {
        id: name,
        name,
        instanceKey: 'instance',
        bindingId: order.binding,
        namespace: 'kyma-system',
        intendedAt: now,
        issuingUntil,
        replicaSeenAt: now,
        uids: undefined,
        issuedAt: undefined,
        expiresAt: undefined,
        revokingSince: undefined,
        endedAt: undefined,
      },
      nextTryAt: issuingUntil,
      tries: 0,
      isSeen: order.isSeen,
    };
    this.rows.push(row);
    this.#promises.set(order.binding, {
      expirationSeconds: order.seconds,
      row,
      deletedAt: undefined,
    });
    return row;
  }

  binding(id: string): Binding | undefined {
    const promise = this.#promises.get(id);
    return (
      promise && {
        instanceKey: 'instance',
        id,
        expirationSeconds: promise.expirationSeconds,
        createdBy: 'somebody',
        createdAt: promise.row.grant.intendedAt,
        deletedAt: promise.deletedAt,
        grant: promise.row.grant,
      }
    );
  }

  rowOf(name: string): Row {
    const row = this.rows.find(({ grant }) => grant.name === name);
    if (row === undefined) throw new Error(`no row of ${name}`);
    return row;
  }

  slots(now: Date): Slots {
    const taking = this.rows.filter(({ grant }) => takesSlot(grant, now));
    return {
      taken: taking.length,
      nextFreeAt: earliest(taking.map((row) => this.#endOf(row))),
      firstByDefaultAt: earliest(
        taking.filter((row) => this.#endOf(row) === undefined).map(({ grant }) => grant.intendedAt),
      ),
    };
  }

  /** Undefined where the plan would have to be asked. */
  #endOf({ grant }: Row): Date | undefined {
    const asked = this.#promises.get(grant.bindingId)?.expirationSeconds;
    return (
      grant.expiresAt ?? (asked === undefined ? undefined : addSeconds(grant.intendedAt, asked))
    );
  }

  beat(now: Date): void {
    for (const row of this.rows) {
      if (row.isSeen) row.grant = { ...row.grant, replicaSeenAt: now };
    }
  }

  /** @returns false when the grant was ordered to end meanwhile; then nothing was written */
  storeOutcome(
    row: Row,
    { issuedAt, expiresAt }: Readonly<Record<'issuedAt' | 'expiresAt', Date>>,
  ): boolean {
    if (!isBeingIssued(row.grant)) return false;
    const { name } = row.grant;
    const uids = { account: name, role: name, roleBinding: name };
    row.grant = { ...row.grant, uids, issuedAt, expiresAt };
    row.nextTryAt = expiresAt;
    return true;
  }

  orderEnd(row: Row, now: Date): void {
    if (row.grant.endedAt !== undefined) return;
    row.grant = { ...row.grant, revokingSince: row.grant.revokingSince ?? now };
    row.nextTryAt = now;
  }

  deleteBinding(id: string, now: Date): void {
    const promise = this.#promises.get(id);
    if (promise === undefined) return;
    promise.deletedAt ??= now;
    this.orderEnd(promise.row, now);
  }

  deleteAll(now: Date): void {
    for (const id of this.#promises.keys()) this.deleteBinding(id, now);
    for (const row of this.rows) this.orderEnd(row, now);
  }

  fenceDeadIssues(now: Date): void {
    for (const row of this.rows) {
      if (isBeingIssued(row.grant) && issueIsDead(row.grant, now)) this.orderEnd(row, now);
    }
  }

  markExpired(now: Date): void {
    for (const row of this.rows) {
      const { expiresAt, revokingSince } = row.grant;
      const isPast = expiresAt !== undefined && expiresAt <= now;
      if (isPast && revokingSince === undefined) this.orderEnd(row, now);
    }
  }

  /** What was ordered to end and what is to be looked at once more, where it is due and nobody writes it. */
  due(now: Date): readonly Row[] {
    return this.rows.filter(
      ({ grant, nextTryAt }) =>
        nextTryAt !== undefined &&
        nextTryAt <= now &&
        (grant.endedAt !== undefined ||
          (grant.revokingSince !== undefined && !isBeingWritten(grant, now))),
    );
  }

  end(row: Row, now: Date): void {
    const { endedAt, expiresAt, issuingUntil } = row.grant;
    if (endedAt !== undefined) return;
    const later = issuingUntil > now ? issuingUntil : now;
    row.nextTryAt = expiresAt === undefined ? addSeconds(later, LAST_LOOK_SECONDS) : undefined;
    row.grant = { ...row.grant, endedAt: now };
  }

  postpone(row: Row, now: Date): void {
    row.tries += 1;
    row.nextTryAt = addMs(now, retryDelayMs({ count: row.tries, draw: 0 }));
  }

  /** Of a writer whose undo failed: nobody knows better that something is left. */
  reopen(row: Row, now: Date): void {
    const { revokingSince = now, issuingUntil } = row.grant;
    row.grant = {
      ...row.grant,
      revokingSince,
      endedAt: undefined,
      issuingUntil: issuingUntil < now ? issuingUntil : now,
    };
  }

  seen(): readonly SeenGrant[] {
    return this.rows.map(({ grant, nextTryAt }) => ({
      name: grant.name,
      binding: grant.bindingId,
      expiresAt: grant.expiresAt,
      isOrderedToEnd: grant.revokingSince !== undefined,
      hasEnded: grant.endedAt !== undefined,
      isToBeLookedAt: nextTryAt !== undefined,
    }));
  }
}

function isBeingIssued({ endedAt, expiresAt, revokingSince }: Grant): boolean {
  return endedAt === undefined && expiresAt === undefined && revokingSince === undefined;
}

function earliest(times: readonly (Date | undefined)[]): Date | undefined {
  const known = times.flatMap((time) => (time === undefined ? [] : [time.getTime()]));
  return known.length === 0 ? undefined : new Date(Math.min(...known));
}
