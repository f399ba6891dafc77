// A migrated database for a test file of the storage, with short ways to put instances, bindings and grants into it.
// Times are offsets from one moment, so that a test says only what matters to it.
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import type { Operation, OperationState, OperationType } from '../../../src/domain/operation.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { announceGrant, type NewBinding, type NewGrant } from '../../../src/storage/bindings.ts';
import { type Db, inTransaction } from '../../../src/storage/database.ts';
import { recordOutcome } from '../../../src/storage/grants.ts';
import { insertInstance, type NewInstance } from '../../../src/storage/instances.ts';
import { migrate } from '../../../src/storage/migrate.ts';
import { claimOperation, endOperation, insertOperation } from '../../../src/storage/operations.ts';
import { openEmbedded } from '../../../src/storage/embedded.ts';
import type { JobDatabase } from '../../../src/storage/job-engine.ts';
import { OPERATION_COLUMNS, toOperation } from '../../../src/storage/rows.ts';
import { openPostgres, type PostgresOptions } from '../../../src/storage/postgres.ts';
import { freshDatabase, freshDataFolder } from '../../support/database.ts';
import type { Engine } from '../../support/engines-under-test.ts';

export const NOW = new Date('2026-03-01T12:00:00.000Z');

export function seconds(offset: number): Date {
  return new Date(NOW.getTime() + offset * 1000);
}

export const SILENT = pino({ level: 'silent' });

export const LIMITS: PostgresOptions = {
  maxConnections: 5,
  statementTimeoutMs: 10_000,
  connectTimeoutMs: 30_000,
  applicationName: 'storage tests',
  log: SILENT,
};

export interface Ledger {
  readonly db: Db;
  readonly jobs: JobDatabase;
  close(): Promise<void>;
}

/** With what only a server has. */
export interface PostgresLedger extends Ledger {
  readonly url: Secret;
  /** Another pool, as another replica has; closed with the ledger. */
  open(options?: Partial<PostgresOptions>): Db;
}

export async function openLedger(engine: Engine): Promise<Ledger> {
  return await migrated(await openEmptyDatabase(engine));
}

export async function openPostgresLedger(): Promise<PostgresLedger> {
  return await migrated(await openEmptyPostgres());
}

async function migrated<L extends Ledger>(ledger: L): Promise<L> {
  await migrate(ledger.db);
  return ledger;
}

export async function openEmptyDatabase(engine: Engine): Promise<Ledger> {
  return engine === 'postgres' ? await openEmptyPostgres() : openEmptyEmbedded();
}

function openEmptyEmbedded(): Ledger {
  const folder = freshDataFolder();
  const { db, session } = openEmbedded(folder.path);
  return {
    db,
    jobs: { kind: 'embedded', session },
    async close() {
      await db.destroy();
      folder.remove();
    },
  };
}

export async function openEmptyPostgres(): Promise<PostgresLedger> {
  const database = await freshDatabase();
  const url = new Secret(database.url);
  const opened: Db[] = [];
  const open = (options: Partial<PostgresOptions> = {}): Db => {
    const db = openPostgres(url, { ...LIMITS, ...options });
    opened.push(db);
    return db;
  };
  return {
    db: open(),
    jobs: { kind: 'postgres', url },
    url,
    open,
    async close() {
      await Promise.all(opened.map((db) => db.destroy()));
      await database.drop();
    },
  };
}

export function newInstance(overrides: Partial<NewInstance> = {}): NewInstance {
  return {
    key: randomUUID(),
    id: randomUUID(),
    serviceId: '47c9dcbf-ff30-448e-ab36-d3bad66ba281',
    planId: '03e3cb66-a4c6-4c6a-b4b0-5d42224debea',
    provisioner: 'own-cluster',
    name: 'runtime',
    platformRegion: 'cf-eu10',
    region: 'cf-eu10',
    runtimeId: undefined,
    accounts: {},
    parameters: {},
    sealedAccess: undefined,
    createdAt: NOW,
    ...overrides,
  };
}

export interface InstanceInState {
  readonly type?: OperationType;
  readonly state?: OperationState;
}

/** An instance with one operation; `succeeded` provisioning unless said otherwise. */
export async function makeInstance(
  db: Db,
  overrides: Partial<NewInstance> = {},
  { type = 'provision', state = 'succeeded' }: InstanceInState = {},
): Promise<NewInstance & { readonly operationId: string }> {
  const instance = newInstance(overrides);
  const operationId = await inTransaction(db, async (tx) => {
    await insertInstance(tx, instance);
    return startOperation(tx, instance.key, type);
  });
  if (state !== 'in progress') {
    await finishOperation(db, operationId, state);
  }
  return { ...instance, operationId };
}

export async function startOperation(
  db: Db,
  instanceKey: string,
  type: OperationType,
): Promise<string> {
  const id = randomUUID();
  await insertOperation(db, {
    id,
    instanceKey,
    type,
    description: 'accepted',
    deadline: seconds(300),
    createdAt: NOW,
  });
  return id;
}

export async function finishOperation(
  db: Db,
  id: string,
  state: 'succeeded' | 'failed',
): Promise<void> {
  const claimed = await claimOperation(db, {
    id,
    replicaId: randomUUID(),
    now: NOW,
    leasedUntil: seconds(1),
  });
  if (claimed === undefined) {
    throw new Error('the operation could not be claimed');
  }
  await endOperation(db, { claim: claimed.claim, state, description: 'done', at: NOW });
}

export function newGrant(overrides: Partial<NewGrant> = {}): NewGrant {
  const id = randomUUID();
  return {
    id,
    name: `kyma-binding-${id}`,
    namespace: 'kyma-system',
    replicaId: randomUUID(),
    intendedAt: NOW,
    issuingUntil: seconds(30),
    ...overrides,
  };
}

export function newBinding(instanceKey: string, overrides: Partial<NewBinding> = {}): NewBinding {
  return {
    instanceKey,
    id: randomUUID(),
    expirationSeconds: undefined,
    createdBy: 'tester',
    ...overrides,
  };
}

export interface MadeBinding {
  readonly binding: NewBinding;
  readonly grant: NewGrant;
}

/** A binding that is being issued. */
export async function announceBinding(
  db: Db,
  instanceKey: string,
  overrides: { readonly binding?: Partial<NewBinding>; readonly grant?: Partial<NewGrant> } = {},
): Promise<MadeBinding> {
  const binding = newBinding(instanceKey, overrides.binding);
  const grant = newGrant(overrides.grant);
  await inTransaction(db, (tx) => announceGrant(tx, { binding, grant }));
  return { binding, grant };
}

export const UIDS = { account: 'uid-a', role: 'uid-r', roleBinding: 'uid-rb' } as const;

/** Says how the issue went: well. */
export async function issue(
  db: Db,
  grantId: string,
  { expiresAt = seconds(600) }: { readonly expiresAt?: Date } = {},
): Promise<boolean> {
  return await recordOutcome(db, {
    grantId,
    uids: UIDS,
    sealedToken: 'v1.k.aXY.c2VhbGVk',
    issuedAt: NOW,
    expiresAt,
  });
}

/** As it stands in its row. */
export async function findOperation(db: Db, id: string): Promise<Operation | undefined> {
  const row = await db
    .selectFrom('operations')
    .select(OPERATION_COLUMNS)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toOperation(row);
}
