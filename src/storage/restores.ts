// Clusters that show that an older database was put back: objects of ours whose rows the database should still have.
// Orphans are not removed on them until an operator has confirmed that it was so.
import type { Tx } from './database.ts';
import { statement } from './statement.ts';

export interface Restore {
  /** Found, and not confirmed since. */
  readonly isSuspected: boolean;
  /** When an operator last confirmed one for this cluster. */
  readonly confirmedAt: Date | undefined;
}

/** A later restore is found anew, by what was marked after the confirmation. */
const IS_SUSPECTED = '(confirmed_at is null or confirmed_at < suspected_at)';

const selectRestore = statement<{ is_suspected: boolean; confirmed_at: Date | null }>(
  `select ${IS_SUSPECTED} as is_suspected, confirmed_at from suspected_restores where cluster_uid = $1`,
);

export async function readRestore(tx: Tx, clusterUid: string): Promise<Restore> {
  const [row] = await selectRestore(tx, [clusterUid]);
  return {
    isSuspected: row?.is_suspected ?? false,
    confirmedAt: row?.confirmed_at ?? undefined,
  };
}

export interface Suspicion {
  readonly clusterUid: string;
  /** Of the object that shows it. */
  readonly grantName: string;
  /** What was known of confirmations when the object was judged. */
  readonly confirmedAt: Date | undefined;
  readonly at: Date;
}

const suspect = statement<{ cluster_uid: string }>(
  `insert into suspected_restores (cluster_uid, grant_name, suspected_at) values ($1, $2, $3)
  on conflict (cluster_uid) do update set grant_name = excluded.grant_name, suspected_at = excluded.suspected_at
  where suspected_restores.confirmed_at = $4 and suspected_restores.confirmed_at >= suspected_restores.suspected_at
  returning cluster_uid`,
);

/** @returns false when it was suspected before, or confirmed since the object was judged */
export async function suspectRestore(tx: Tx, suspicion: Suspicion): Promise<boolean> {
  const { clusterUid, grantName, confirmedAt, at } = suspicion;
  const suspected = await suspect(tx, [clusterUid, grantName, at, confirmedAt ?? null]);
  return suspected.length > 0;
}

const confirm = statement<{ cluster_uid: string }>(
  `update suspected_restores set confirmed_at = greatest($2, suspected_at)
  where cluster_uid = $1 and ${IS_SUSPECTED}
  returning cluster_uid`,
);

/**
 * From now on, what was marked before and has no row is removed.
 * @returns false when there is nothing to confirm
 */
export async function confirmRestoreOf(
  tx: Tx,
  { clusterUid, at }: { readonly clusterUid: string; readonly at: Date },
): Promise<boolean> {
  const confirmed = await confirm(tx, [clusterUid, at]);
  return confirmed.length > 0;
}

export interface SuspectedRestore {
  readonly clusterUid: string;
  readonly suspectedAt: Date;
  readonly grantName: string;
  /** Of an instance that has the cluster attached, by which it can be confirmed; undefined where none has any more. */
  readonly instanceId: string | undefined;
}

const selectSuspected = statement<{
  cluster_uid: string;
  suspected_at: Date;
  grant_name: string;
  instance_id: string | null;
}>(
  `select cluster_uid, suspected_at, grant_name, (
    select id from instances i where i.cluster_uid = s.cluster_uid and i.deleted_at is null
    order by created_at limit 1
  ) as instance_id
  from suspected_restores s where ${IS_SUSPECTED} order by suspected_at, cluster_uid limit $1`,
);

/** Oldest first. */
export async function listSuspectedRestores(
  tx: Tx,
  { limit }: { readonly limit: number },
): Promise<readonly SuspectedRestore[]> {
  const rows = await selectSuspected(tx, [limit]);
  return rows.map((row) => ({
    clusterUid: row.cluster_uid,
    suspectedAt: row.suspected_at,
    grantName: row.grant_name,
    instanceId: row.instance_id ?? undefined,
  }));
}

const countSuspected = statement<{ suspected: number }>(
  `select count(*)::int as suspected from suspected_restores where ${IS_SUSPECTED}`,
);

export async function countSuspectedRestores(tx: Tx): Promise<number> {
  const [row] = await countSuspected(tx, []);
  return row?.suspected ?? 0;
}
