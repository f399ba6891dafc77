// The tables as the migrations lay them: column names and what the driver makes of each column. Timestamps have
// millisecond precision, as a Date has, so that what is read equals what was written.
import type { ColumnType, GeneratedAlways } from 'kysely';
import type { JsonObject } from '../domain/json.ts';
import type { InstanceChange, OperationState, OperationType } from '../domain/operation.ts';
import type { ProvisionerName } from '../domain/plan.ts';

/** JSON goes in as text and comes out parsed, on both drivers. */
type JsonColumn = ColumnType<JsonObject, string, string>;

export interface InstallationTable {
  id: string;
  sealed_mark_key: string | null;
}

export interface InstancesTable {
  key: string;
  id: string;
  service_id: string;
  plan_id: string;
  provisioner: ProvisionerName;
  name: string;
  region: string;
  platform_region: string | null;
  runtime_id: string | null;
  global_account_id: string | null;
  subaccount_id: string | null;
  user_id: string | null;
  parameters: JsonColumn;
  cluster_uid: string | null;
  cluster_server: string | null;
  cluster_ca: string | null;
  cluster_tls_server_name: string | null;
  sealed_access: string | null;
  /** Since when an operator, or its control plane, says that it does not exist any more. */
  cluster_gone_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
  next_scan_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
  scan_position: ColumnType<string | null, string | null | undefined, string | null>;
  /** Grows with every change, so that a writer can tell whether what it read still holds. */
  rev: ColumnType<number, never, number>;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
}

export interface OperationsTable {
  id: string;
  instance_key: string;
  /** Order of creation: times may be equal, and clocks of replicas differ. */
  number: GeneratedAlways<number>;
  type: OperationType;
  state: OperationState;
  step: string | null;
  attempt: number;
  next_run_at: Date;
  deadline: Date;
  description: string;
  /** Grows with every claim: the fence of whoever claimed before. */
  claims: ColumnType<number, never, number>;
  lease_replica: string | null;
  leased_until: Date | null;
  created_at: Date;
  finished_at: Date | null;
  change: ColumnType<InstanceChange | null, string | null | undefined, string | null>;
  sealed_access: ColumnType<string | null, string | null | undefined, string | null>;
}

export interface BindingsTable {
  instance_key: string;
  id: string;
  expiration_seconds: number | null;
  created_by: string;
  current_grant: string;
  created_at: Date;
  deleted_at: Date | null;
}

export interface GrantsTable {
  id: string;
  name: string;
  instance_key: string;
  binding_id: string;
  namespace: string;
  account_uid: string | null;
  role_uid: string | null;
  role_binding_uid: string | null;
  sealed_token: string | null;
  replica_id: string;
  intended_at: Date;
  issuing_until: Date;
  issued_at: Date | null;
  expires_at: Date | null;
  revoking_since: Date | null;
  /** When a reconciler should look at it next: after the lease, at expiry, at the next try to revoke. */
  next_try_at: Date | null;
  tries: ColumnType<number, number | undefined, number>;
  last_error: string | null;
  proof: string | null;
  ended_at: Date | null;
  lease_replica: string | null;
  leased_until: Date | null;
  /** Somebody waits for its outcome or its end: it is announced. */
  awaited: ColumnType<boolean, boolean | undefined, boolean>;
}

/** Clusters with a valid mark of ours that no row knows, although its row cannot have been pruned yet. */
export interface SuspectedRestoresTable {
  cluster_uid: string;
  suspected_at: Date;
  grant_name: string;
  confirmed_at: Date | null;
}

export interface EventsTable {
  number: GeneratedAlways<number>;
  at: Date;
  type: string;
  instance_key: string | null;
  instance_id: string | null;
  binding_id: string | null;
  grant_name: string | null;
  actor: string;
  reason: string | null;
}

export interface ReplicasTable {
  id: string;
  seen_at: Date;
}
