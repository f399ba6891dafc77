// Rows to domain types and back. Null becomes undefined here, and column names end here.
import type { Accounts } from '../domain/accounts.ts';
import type { Binding, Grant, GrantUids } from '../domain/binding.ts';
import type { AttachedCluster, Instance } from '../domain/instance.ts';
import type { Operation } from '../domain/operation.ts';
import type { BindingsTable, GrantsTable, InstancesTable, OperationsTable } from './tables.ts';
import type { Selectable } from 'kysely';

export const INSTANCE_COLUMNS = [
  'key',
  'id',
  'service_id',
  'plan_id',
  'provisioner',
  'name',
  'region',
  'platform_region',
  'runtime_id',
  'global_account_id',
  'subaccount_id',
  'user_id',
  'parameters',
  'cluster_uid',
  'cluster_server',
  'cluster_ca',
  'cluster_tls_server_name',
  'cluster_gone_at',
  'created_at',
  'deleted_at',
] as const satisfies readonly (keyof InstancesTable)[];

export const OPERATION_COLUMNS = [
  'id',
  'instance_key',
  'type',
  'state',
  'step',
  'attempt',
  'next_run_at',
  'deadline',
  'description',
  'created_at',
  'change',
] as const satisfies readonly (keyof OperationsTable)[];

export const BINDING_COLUMNS = [
  'instance_key',
  'id',
  'expiration_seconds',
  'created_by',
  'created_at',
  'deleted_at',
] as const satisfies readonly (keyof BindingsTable)[];

export const GRANT_COLUMNS = [
  'id',
  'name',
  'instance_key',
  'binding_id',
  'namespace',
  'account_uid',
  'role_uid',
  'role_binding_uid',
  'intended_at',
  'issuing_until',
  'issued_at',
  'expires_at',
  'revoking_since',
  'ended_at',
] as const satisfies readonly (keyof GrantsTable)[];

export type InstanceRow = Pick<Selectable<InstancesTable>, (typeof INSTANCE_COLUMNS)[number]>;
export type OperationRow = Pick<Selectable<OperationsTable>, (typeof OPERATION_COLUMNS)[number]>;
export type BindingRow = Pick<Selectable<BindingsTable>, (typeof BINDING_COLUMNS)[number]>;
export type GrantRow = Pick<Selectable<GrantsTable>, (typeof GRANT_COLUMNS)[number]>;

/** Columns of one table inside a row that has those of several. */
export type Prefixed<P extends string, Row> = { [C in keyof Row & string as `${P}_${C}`]: Row[C] };

/** As in `select i.key as i_key, …`, where the alias of the table is the prefix. */
export function prefixedColumns(prefix: string, columns: readonly string[]): string {
  return columns.map((column) => `${prefix}.${column} as ${prefix}_${column}`).join(', ');
}

/** The part of a joined row that came from one table. */
export function partOf<
  P extends string,
  C extends string,
  Row extends Readonly<Record<`${P}_${C}`, unknown>>,
>(row: Row, prefix: P, columns: readonly C[]): { [K in C]: Row[`${P}_${K}`] } {
  const entries = columns.map((column) => [column, row[`${prefix}_${column}`]] as const);
  return Object.fromEntries(entries) as { [K in C]: Row[`${P}_${K}`] };
}

export function toInstance(row: InstanceRow): Instance {
  return {
    key: row.key,
    id: row.id,
    serviceId: row.service_id,
    planId: row.plan_id,
    provisioner: row.provisioner,
    name: row.name,
    region: row.region,
    // Of instances made before it was kept apart, where it is known only if no other region was asked for.
    platformRegion: row.platform_region ?? row.region,
    runtimeId: row.runtime_id ?? undefined,
    accounts: toAccounts(row),
    parameters: row.parameters,
    cluster: toCluster(row),
    clusterGoneAt: row.cluster_gone_at ?? undefined,
    createdAt: row.created_at,
    deletedAt: row.deleted_at ?? undefined,
  };
}

function toAccounts(row: InstanceRow): Accounts {
  return {
    ...(row.global_account_id === null ? {} : { globalAccountId: row.global_account_id }),
    ...(row.subaccount_id === null ? {} : { subaccountId: row.subaccount_id }),
    ...(row.user_id === null ? {} : { userId: row.user_id }),
  };
}

function toCluster(row: InstanceRow): AttachedCluster | undefined {
  if (row.cluster_uid === null || row.cluster_server === null) {
    return undefined;
  }
  return {
    uid: row.cluster_uid,
    server: row.cluster_server,
    certificateAuthorityData: row.cluster_ca ?? undefined,
    tlsServerName: row.cluster_tls_server_name ?? undefined,
  };
}

export function toOperation(row: OperationRow): Operation {
  return {
    id: row.id,
    instanceKey: row.instance_key,
    type: row.type,
    state: row.state,
    step: row.step ?? undefined,
    attempt: row.attempt,
    nextRunAt: row.next_run_at,
    deadline: row.deadline,
    description: row.description,
    createdAt: row.created_at,
    change: row.change ?? undefined,
  };
}

export function toBinding(row: BindingRow, grant: Grant): Binding {
  return {
    instanceKey: row.instance_key,
    id: row.id,
    expirationSeconds: row.expiration_seconds ?? undefined,
    createdBy: row.created_by,
    createdAt: row.created_at,
    deletedAt: row.deleted_at ?? undefined,
    grant,
  };
}

export function toGrant(row: GrantRow, replicaSeenAt: Date | null): Grant {
  return {
    id: row.id,
    name: row.name,
    instanceKey: row.instance_key,
    bindingId: row.binding_id,
    namespace: row.namespace,
    intendedAt: row.intended_at,
    issuingUntil: row.issuing_until,
    replicaSeenAt: replicaSeenAt ?? undefined,
    uids: toUids(row),
    issuedAt: row.issued_at ?? undefined,
    expiresAt: row.expires_at ?? undefined,
    revokingSince: row.revoking_since ?? undefined,
    endedAt: row.ended_at ?? undefined,
  };
}

export function toUids(
  row: Pick<GrantRow, 'account_uid' | 'role_uid' | 'role_binding_uid'>,
): GrantUids | undefined {
  const { account_uid: account, role_uid: role, role_binding_uid: roleBinding } = row;
  if (account === null || role === null || roleBinding === null) {
    return undefined;
  }
  return { account, role, roleBinding };
}
