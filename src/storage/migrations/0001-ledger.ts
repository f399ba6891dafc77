// The ledger: instances, operations, bindings, grants, replicas, and who this installation is. Invariants that must
// hold whatever the code does are constraints here. Indexes are one for each question that is asked.
import { type Kysely, sql } from 'kysely';

const INSTALLATION = `
  create table installation (
    only_row boolean primary key default true check (only_row),
    id uuid not null,
    sealed_mark_key text
  )`;

/** Clusters know us by this id, so it is drawn once, here, and never again. */
const THIS_INSTALLATION = 'insert into installation (id) values (gen_random_uuid())';

/**
 * Ids of platforms are compared and ordered byte by byte, on every server alike. Parameters are `json`, not `jsonb`:
 * they are never searched, only given back as they came, and `jsonb` refuses some of what JSON allows.
 */
const INSTANCES = `
  create table instances (
    key uuid primary key,
    id text collate "C" not null,
    service_id text not null,
    plan_id text not null,
    provisioner text not null,
    name text not null,
    region text not null,
    runtime_id text,
    global_account_id text,
    subaccount_id text,
    user_id text,
    parameters json not null,
    cluster_uid text,
    cluster_server text,
    cluster_ca text,
    cluster_tls_server_name text,
    sealed_access text,
    rev bigint not null default 1,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    deleted_at timestamptz(3),
    constraint cluster_known_as_a_whole check (
      (cluster_uid is null) = (cluster_server is null)
      and (cluster_uid is not null or (cluster_ca is null and cluster_tls_server_name is null))
    )
  )`;

const INSTANCE_INDEXES = [
  'create unique index instances_current_id on instances (id) where deleted_at is null',
  'create index instances_id on instances (id, deleted_at desc)',
  'create index instances_runtime on instances (runtime_id)',
  'create index instances_global_account on instances (global_account_id)',
  'create index instances_subaccount on instances (subaccount_id)',
  'create index instances_age on instances (created_at, key)',
  'create index instances_deleted on instances (deleted_at) where deleted_at is not null',
];

const OPERATIONS = `
  create table operations (
    id text collate "C" primary key,
    instance_key uuid not null references instances (key),
    number bigint not null generated always as identity,
    type text not null check (type in ('provision', 'update', 'deprovision', 'suspend', 'resume')),
    state text not null check (state in ('in progress', 'succeeded', 'failed')),
    step text,
    attempt integer not null default 0,
    next_run_at timestamptz(3) not null,
    deadline timestamptz(3) not null,
    description text not null,
    claims integer not null default 0,
    lease_replica uuid,
    leased_until timestamptz(3),
    created_at timestamptz(3) not null,
    finished_at timestamptz(3),
    constraint lease_has_holder check ((lease_replica is null) = (leased_until is null)),
    constraint finished_once_ended check ((state = 'in progress') = (finished_at is null)),
    constraint no_work_once_ended check (
      state = 'in progress' or (step is null and lease_replica is null)
    )
  )`;

const OPERATION_INDEXES = [
  `create unique index operations_one_in_progress on operations (instance_key)
    where state = 'in progress'`,
  'create unique index operations_latest on operations (instance_key, number desc)',
  `create index operations_due on operations (next_run_at) where state = 'in progress'`,
  'create index operations_age on operations (created_at, id)',
];

const BINDINGS = `
  create table bindings (
    instance_key uuid not null references instances (key),
    id text collate "C" not null,
    expiration_seconds integer,
    created_by text not null,
    current_grant uuid not null,
    created_at timestamptz(3) not null,
    deleted_at timestamptz(3),
    primary key (instance_key, id)
  )`;

const BINDING_INDEXES = [
  'create index bindings_age on bindings (created_at, instance_key, id)',
  'create index bindings_deleted on bindings (deleted_at) where deleted_at is not null',
];

/**
 * The outcome comes as a whole or not at all; a token is there exactly from the outcome to the end; what has not
 * ended has a time at which somebody looks at it.
 */
const GRANTS = `
  create table grants (
    id uuid primary key,
    name text collate "C" not null unique,
    instance_key uuid not null,
    binding_id text collate "C" not null,
    namespace text not null,
    account_uid text,
    role_uid text,
    role_binding_uid text,
    sealed_token text,
    replica_id uuid not null,
    intended_at timestamptz(3) not null,
    issuing_until timestamptz(3) not null,
    issued_at timestamptz(3),
    expires_at timestamptz(3),
    revoking_since timestamptz(3),
    next_try_at timestamptz(3),
    tries integer not null default 0,
    last_error text,
    proof text,
    ended_at timestamptz(3),
    lease_replica uuid,
    leased_until timestamptz(3),
    foreign key (instance_key, binding_id) references bindings (instance_key, id),
    constraint outcome_as_a_whole check (
      num_nonnulls(account_uid, role_uid, role_binding_uid, issued_at, expires_at) in (0, 5)
    ),
    constraint token_from_outcome_to_end check (
      (sealed_token is not null) = (expires_at is not null and ended_at is null)
    ),
    constraint end_has_proof check ((ended_at is null) = (proof is null)),
    constraint unfinished_is_looked_at check (ended_at is not null or next_try_at is not null),
    constraint lease_has_holder check ((lease_replica is null) = (leased_until is null))
  )`;

const GRANT_INDEXES = [
  'create index grants_unfinished on grants (instance_key) where ended_at is null',
  'create index grants_next_try on grants (next_try_at) where next_try_at is not null',
  'create index grants_of_binding on grants (instance_key, binding_id)',
  'create index grants_ended on grants (ended_at) where ended_at is not null',
];

/** The other half of the circle: checked at the end of the statement that writes both rows. */
const CURRENT_GRANT = `
  alter table bindings
    add constraint current_grant_exists foreign key (current_grant) references grants (id)`;

const REPLICAS = `
  create table replicas (
    id uuid primary key,
    seen_at timestamptz(3) not null
  )`;

export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    INSTALLATION,
    THIS_INSTALLATION,
    INSTANCES,
    ...INSTANCE_INDEXES,
    OPERATIONS,
    ...OPERATION_INDEXES,
    BINDINGS,
    ...BINDING_INDEXES,
    GRANTS,
    ...GRANT_INDEXES,
    CURRENT_GRANT,
    REPLICAS,
  ];
  for (const statement of statements) {
    await sql.raw(statement).execute(db);
  }
}
