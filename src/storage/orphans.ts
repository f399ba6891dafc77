// Whose turn it is to be looked through for objects without a row, and what the rows say of the names that were found.
// A cluster may have been attached by several instances: it is scanned once for all of them.
import type { GrantUids } from '../domain/binding.ts';
import type { Instance } from '../domain/instance.ts';
import type { Tx } from './database.ts';
import { INSTANCE_COLUMNS, type InstanceRow, toInstance, toUids } from './rows.ts';
import { statement } from './statement.ts';

/** Nobody has said that the cluster is gone, and an instance gives access to it. */
const IS_SCANNED = `cluster_uid is not null and deleted_at is null and cluster_gone_at is null`;

/** An instance that was attached a moment ago does not make a cluster due that was scanned for another one. */
const selectDue = statement<{ cluster_uid: string }>(
  `select due.cluster_uid from instances due
  where due.cluster_uid is not null and due.deleted_at is null and due.cluster_gone_at is null
    and (due.next_scan_at is null or due.next_scan_at <= $1)
    and not exists (
      select 1 from instances other where other.cluster_uid = due.cluster_uid
        and other.deleted_at is null and other.cluster_gone_at is null and other.next_scan_at > $1
    )
  group by due.cluster_uid order by min(due.next_scan_at) nulls first, due.cluster_uid limit $2`,
);

/** Those that wait longest first; those that were never scanned before them. */
export async function listClustersToScan(
  tx: Tx,
  { dueAt, limit }: { readonly dueAt: Date; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await selectDue(tx, [dueAt, limit]);
  return rows.map((row) => row.cluster_uid);
}

export interface ScanClaim {
  readonly clusterUid: string;
  /** When the cluster is due again, should nothing more be heard of this scan; also what fences it. */
  readonly nextScanAt: Date;
}

export interface ClaimedScan {
  readonly claim: ScanClaim;
  /** Each of them gives access to the cluster. */
  readonly instances: readonly Instance[];
  /** Where the last scan stopped; undefined: from the start. */
  readonly position: string | undefined;
}

type ScannedRow = InstanceRow & { readonly scan_position: string | null };

const SCANNED_COLUMNS = [...INSTANCE_COLUMNS, 'scan_position'].join(', ');

const moveOn = statement<ScannedRow>(
  `update instances set next_scan_at = $2
  where cluster_uid = $1 and ${IS_SCANNED} and (next_scan_at is null or next_scan_at <= $3)
  returning ${SCANNED_COLUMNS}`,
);

/**
 * The cluster is this caller's to scan: its next turn is committed with the claim, so that a crash costs one interval
 * and the same write that two replicas try gives it to one of them.
 * @param dueAt as it was listed
 * @returns undefined when another replica was first, or nothing gives access to the cluster any more
 */
export async function claimScan(
  tx: Tx,
  claim: ScanClaim,
  dueAt: Date,
): Promise<ClaimedScan | undefined> {
  const rows = await moveOn(tx, [claim.clusterUid, claim.nextScanAt, dueAt]);
  return toScan(claim, rows);
}

const selectScanned = statement<ScannedRow>(
  `select ${SCANNED_COLUMNS} from instances where cluster_uid = $1 and ${IS_SCANNED}`,
);

/** As claimScan, for who only looks: nothing is written. */
export async function readScan(tx: Tx, claim: ScanClaim): Promise<ClaimedScan | undefined> {
  return toScan(claim, await selectScanned(tx, [claim.clusterUid]));
}

function toScan(claim: ScanClaim, rows: readonly ScannedRow[]): ClaimedScan | undefined {
  const [first] = rows;
  return (
    first && {
      claim,
      instances: rows.map(toInstance),
      position: first.scan_position ?? undefined,
    }
  );
}

const storePosition = statement<{ key: string }>(
  `update instances set scan_position = $3, next_scan_at = $4
  where cluster_uid = $1 and next_scan_at = $2
  returning key`,
);

/** Does nothing once the cluster was made due, or claimed, by another. */
export async function recordScan(
  tx: Tx,
  claim: ScanClaim,
  { position, nextScanAt }: { readonly position: string | undefined; readonly nextScanAt: Date },
): Promise<void> {
  await storePosition(tx, [claim.clusterUid, claim.nextScanAt, position ?? null, nextScanAt]);
}

const makeDue = statement<{ key: string }>(
  `update instances set next_scan_at = $2, scan_position = null where cluster_uid = $1 returning key`,
);

/** For when what was found may be judged otherwise now. */
export async function scanAtOnce(
  tx: Tx,
  { clusterUid, at }: { readonly clusterUid: string; readonly at: Date },
): Promise<void> {
  await makeDue(tx, [clusterUid, at]);
}

/** What is known of the grant of a name. */
export interface NamedGrant {
  readonly grantId: string;
  readonly name: string;
  readonly bindingId: string;
  readonly instanceId: string;
  readonly clusterUid: string | undefined;
  readonly namespace: string;
  readonly uids: GrantUids | undefined;
  readonly hasEnded: boolean;
  readonly isToBeLookedAt: boolean;
  /** Its instance is deleted, or its cluster was declared gone. */
  readonly isOutOfReach: boolean;
}

const selectNamed = statement<{
  readonly id: string;
  readonly name: string;
  readonly binding_id: string;
  readonly instance_id: string;
  readonly cluster_uid: string | null;
  readonly namespace: string;
  readonly account_uid: string | null;
  readonly role_uid: string | null;
  readonly role_binding_uid: string | null;
  readonly has_ended: boolean;
  readonly is_to_be_looked_at: boolean;
  readonly is_out_of_reach: boolean;
}>(
  `select g.id, g.name, g.binding_id, i.id as instance_id, i.cluster_uid, g.namespace,
    g.account_uid, g.role_uid, g.role_binding_uid,
    g.ended_at is not null as has_ended, g.next_try_at is not null as is_to_be_looked_at,
    i.deleted_at is not null or i.cluster_gone_at is not null as is_out_of_reach
  from grants g join instances i on i.key = g.instance_key
  where g.name = any($1::text[])`,
);

/** Of all instances, ended grants too; asked after their objects were seen, since a row precedes its objects. */
export async function findGrantsByName(
  tx: Tx,
  names: readonly string[],
): Promise<ReadonlyMap<string, NamedGrant>> {
  if (names.length === 0) {
    return new Map();
  }
  const rows = await selectNamed(tx, [names]);
  return new Map(
    rows.map((row) => [
      row.name,
      {
        grantId: row.id,
        name: row.name,
        bindingId: row.binding_id,
        instanceId: row.instance_id,
        clusterUid: row.cluster_uid ?? undefined,
        namespace: row.namespace,
        uids: toUids(row),
        hasEnded: row.has_ended,
        isToBeLookedAt: row.is_to_be_looked_at,
        isOutOfReach: row.is_out_of_reach,
      },
    ]),
  );
}

const reopen = statement<{ id: string }>(
  `update grants set ended_at = null, proof = null, next_try_at = $2,
    revoking_since = coalesce(revoking_since, $2), lease_replica = null, leased_until = null
  where id = $1 and ended_at is not null and next_try_at is null
  returning id`,
);

/**
 * An ended grant turns out to have something left: it is unfinished again, so that it is revoked as any other.
 * @returns false when it is to be looked at anyway, or is not there any more
 */
export async function reopenGrant(
  tx: Tx,
  { grantId, at }: { readonly grantId: string; readonly at: Date },
): Promise<boolean> {
  const reopened = await reopen(tx, [grantId, at]);
  return reopened.length > 0;
}
