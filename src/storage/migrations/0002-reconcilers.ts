// What the reconcilers and the operators' side of bindings need: who waits for a grant, when a cluster is scanned for
// orphans, which clusters were declared gone or show that an older database was restored, and what operators did.
import { type Kysely, sql } from 'kysely';

const STATEMENTS = [
  /** Set by who waits for the outcome on another replica, so that an outcome nobody waits for costs no notification. */
  'alter table grants add column awaited boolean not null default false',
  'alter table instances add column cluster_gone_at timestamptz(3)',
  /** When the cluster is to be looked through for orphans next; null until it is known for the first time. */
  'alter table instances add column next_scan_at timestamptz(3)',
  /** Where a scan stopped that has more to look through. */
  'alter table instances add column scan_position text',
  `create index instances_next_scan on instances (next_scan_at)
    where cluster_uid is not null and deleted_at is null`,
  'create index instances_cluster on instances (cluster_uid) where cluster_uid is not null',
  /** The few that a writer may be at work on, so that those of a dead one are found without reading all that live. */
  `create index grants_being_issued on grants (issuing_until)
    where ended_at is null and expires_at is null and revoking_since is null`,
  /** Deleted instances whose access is still sealed: each pass asks whether it can be erased by now. */
  `create index instances_access_left on instances (key)
    where deleted_at is not null and sealed_access is not null`,
  /** For the foreign key: without it each grant that is pruned would read all bindings. */
  'create index bindings_current_grant on bindings (current_grant)',
  /** By cluster, not by instance: two instances may have attached the same one. */
  `create table suspected_restores (
    cluster_uid text primary key,
    suspected_at timestamptz(3) not null,
    grant_name text collate "C" not null,
    confirmed_at timestamptz(3)
  )`,
  /** No foreign key to instances: what was done stays known after they are pruned. */
  `create table events (
    number bigint primary key generated always as identity,
    at timestamptz(3) not null,
    type text not null,
    instance_key uuid,
    instance_id text collate "C",
    binding_id text collate "C",
    grant_name text collate "C",
    actor text not null,
    reason text
  )`,
  'create index events_age on events (at, number)',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) {
    await sql.raw(statement).execute(db);
  }
}
