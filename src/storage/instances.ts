// The records of instances: made, found by OSB id or by our own key, locked, attached to a cluster, marked deleted.
import { sql } from 'kysely';
import type { AttachedCluster, Instance } from '../domain/instance.ts';
import type { Operation } from '../domain/operation.ts';
import type { OpenTransaction, Tx } from './database.ts';
import {
  INSTANCE_COLUMNS,
  type InstanceRow,
  OPERATION_COLUMNS,
  type OperationRow,
  partOf,
  type Prefixed,
  prefixedColumns,
  toInstance,
  toOperation,
} from './rows.ts';
import type { SealedPlace } from './sealing.ts';
import { statement } from './statement.ts';

/** Nothing is known of its cluster yet. */
export interface NewInstance extends Omit<Instance, 'cluster' | 'clusterGoneAt' | 'deletedAt'> {
  /** Sealed for `accessPlace`; undefined where the access comes from elsewhere. */
  readonly sealedAccess: string | undefined;
}

/** An instance with the operation that tells its state. */
export interface FoundInstance {
  readonly instance: Instance;
  readonly latest: Operation;
}

export function accessPlace(instanceKey: string): SealedPlace {
  return { table: 'instances', column: 'sealed_access', row: instanceKey };
}

/** `taken`: another instance has the id now, and nothing was written. An operation must follow in the same transaction. */
export async function insertInstance(
  tx: OpenTransaction,
  instance: NewInstance,
): Promise<'inserted' | 'taken'> {
  const { accounts } = instance;
  const inserted = await tx
    .insertInto('instances')
    .values({
      key: instance.key,
      id: instance.id,
      service_id: instance.serviceId,
      plan_id: instance.planId,
      provisioner: instance.provisioner,
      name: instance.name,
      region: instance.region,
      platform_region: instance.platformRegion,
      runtime_id: instance.runtimeId ?? null,
      global_account_id: accounts.globalAccountId ?? null,
      subaccount_id: accounts.subaccountId ?? null,
      user_id: accounts.userId ?? null,
      parameters: JSON.stringify(instance.parameters),
      sealed_access: instance.sealedAccess ?? null,
      created_at: instance.createdAt,
      updated_at: instance.createdAt,
    })
    .onConflict((conflict) => conflict.column('id').where('deleted_at', 'is', null).doNothing())
    .returning('key')
    .executeTakeFirst();
  return inserted === undefined ? 'taken' : 'inserted';
}

const lockByOsbId = statement<{ key: string }>(
  'select key from instances where id = $1 and deleted_at is null for no key update',
);

/**
 * Makes everybody else who decides about the current instance of this OSB id wait until the transaction has ended.
 * What is decided on is read by a later statement: this one still sees the time before the wait.
 * @returns its key; undefined when there is none, or it was deleted meanwhile
 */
export async function lockInstance(
  tx: OpenTransaction,
  osbId: string,
): Promise<string | undefined> {
  const [row] = await lockByOsbId(tx, [osbId]);
  return row?.key;
}

const lockByKey = statement<{ key: string }>(
  'select key from instances where key = $1 for no key update',
);

/**
 * As lockInstance, for who has our own key. Whoever writes to an instance's operation and to the instance itself takes
 * this lock first, as a request does: in the other order the two would wait for each other.
 */
export async function lockInstanceByKey(tx: OpenTransaction, key: string): Promise<void> {
  await lockByKey(tx, [key]);
}

export type FoundInstanceRow = Prefixed<'i', InstanceRow> & Prefixed<'o', OperationRow>;

/** Select list and joins that give an instance its latest operation; `i` and `o` are free to be used behind it. */
export const FOUND_INSTANCE = {
  columns: `${prefixedColumns('i', INSTANCE_COLUMNS)}, ${prefixedColumns('o', OPERATION_COLUMNS)}`,
  latest: `cross join lateral (
    select * from operations where instance_key = i.key order by number desc limit 1
  ) o`,
} as const;

/** The record that has the OSB id $1 now, else the one that was deleted last. */
export const BY_OSB_ID = `(
  select * from instances where id = $1
  order by deleted_at desc nulls first, created_at desc limit 1
)`;

const selectByOsbId = statement<FoundInstanceRow>(
  `select ${FOUND_INSTANCE.columns} from ${BY_OSB_ID} i ${FOUND_INSTANCE.latest}`,
);

const selectByKey = statement<FoundInstanceRow>(
  `select ${FOUND_INSTANCE.columns} from instances i ${FOUND_INSTANCE.latest} where i.key = $1`,
);

/** The instance that has the OSB id now, else the one that was deleted last: `deletedAt` tells. */
export async function findInstance(tx: Tx, osbId: string): Promise<FoundInstance | undefined> {
  const [row] = await selectByOsbId(tx, [osbId]);
  return row && toFoundInstance(row);
}

export async function findInstanceByKey(tx: Tx, key: string): Promise<FoundInstance | undefined> {
  const [row] = await selectByKey(tx, [key]);
  return row && toFoundInstance(row);
}

export function toFoundInstance(row: FoundInstanceRow): FoundInstance {
  return {
    instance: toInstance(partOf(row, 'i', INSTANCE_COLUMNS)),
    latest: toOperation(partOf(row, 'o', OPERATION_COLUMNS)),
  };
}

/** What provisioning has found at the access; a repeat with the same cluster changes nothing but `rev`. */
export async function attachCluster(
  tx: Tx,
  key: string,
  { cluster, at }: { readonly cluster: AttachedCluster; readonly at: Date },
): Promise<void> {
  await change(tx, key, at)
    .set({
      cluster_uid: cluster.uid,
      cluster_server: cluster.server,
      cluster_ca: cluster.certificateAuthorityData ?? null,
      cluster_tls_server_name: cluster.tlsServerName ?? null,
    })
    .execute();
}

/** Sealed for `accessPlace`; undefined where there was none or it was erased. */
export async function readSealedAccess(tx: Tx, key: string): Promise<string | undefined> {
  const [row] = await selectSealedAccess(tx, [key]);
  return row?.sealed_access ?? undefined;
}

const selectSealedAccess = statement<{ sealed_access: string | null }>(
  'select sealed_access from instances where key = $1',
);

/** Gives the OSB id back. A repeat keeps the first time. */
export async function markInstanceDeleted(
  tx: Tx,
  key: string,
  { at }: { readonly at: Date },
): Promise<void> {
  await change(tx, key, at).set({ deleted_at: at }).where('deleted_at', 'is', null).execute();
}

/** From then on nothing on its cluster is left to be revoked. A repeat keeps the first time. */
export async function markClusterGone(
  tx: Tx,
  key: string,
  { at }: { readonly at: Date },
): Promise<void> {
  await change(tx, key, at)
    .set({ cluster_gone_at: at })
    .where('cluster_gone_at', 'is', null)
    .execute();
}

/** An update of one instance that counts as a change; what is set is the caller's. */
export function change(tx: Tx, key: string, at: Date) {
  return tx
    .updateTable('instances')
    .set({ rev: sql<number>`rev + 1`, updated_at: at })
    .where('key', '=', key);
}
