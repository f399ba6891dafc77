// Records of instances, as the broker's verbs ask for them.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '../../../src/storage/database.ts';
import { eraseSettledAccess } from '../../../src/storage/due-grants.ts';
import {
  accessPlace,
  attachCluster,
  findInstance,
  findInstanceByKey,
  insertInstance,
  lockInstance,
  markInstanceDeleted,
  readSealedAccess,
} from '../../../src/storage/instances.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';
import {
  finishOperation,
  type Ledger,
  makeInstance,
  newInstance,
  NOW,
  openLedger,
  openPostgresLedger,
  seconds,
  startOperation,
} from './ledger.ts';

describeOnEngines('instances', {}, (engine) => {
  let ledger: Ledger;

  beforeAll(async () => {
    ledger = await openLedger(engine);
  });
  afterAll(() => ledger.close());

  const revOf = async (key: string) => {
    const { rev } = await ledger.db
      .selectFrom('instances')
      .select('rev')
      .where('key', '=', key)
      .executeTakeFirstOrThrow();
    return rev;
  };

  it('come back as they were written, with their latest operation', async () => {
    const made = await makeInstance(
      ledger.db,
      {
        name: 'my-runtime',
        runtimeId: 'runtime-1',
        accounts: { globalAccountId: 'ga', subaccountId: 'sa', userId: 'me@example.com' },
        parameters: { name: 'my-runtime', nested: { list: [1, 2.5, null, 'ü'] } },
      },
      { state: 'in progress' },
    );

    const found = await findInstance(ledger.db, made.id);

    expect(found).toEqual({
      instance: {
        key: made.key,
        id: made.id,
        serviceId: '47c9dcbf-ff30-448e-ab36-d3bad66ba281',
        planId: '03e3cb66-a4c6-4c6a-b4b0-5d42224debea',
        provisioner: 'own-cluster',
        name: 'my-runtime',
        region: 'cf-eu10',
        platformRegion: 'cf-eu10',
        runtimeId: 'runtime-1',
        accounts: { globalAccountId: 'ga', subaccountId: 'sa', userId: 'me@example.com' },
        parameters: { name: 'my-runtime', nested: { list: [1, 2.5, null, 'ü'] } },
        cluster: undefined,
        createdAt: NOW,
        deletedAt: undefined,
      },
      latest: {
        id: made.operationId,
        instanceKey: made.key,
        type: 'provision',
        state: 'in progress',
        step: undefined,
        attempt: 0,
        nextRunAt: NOW,
        deadline: seconds(300),
        description: 'accepted',
        createdAt: NOW,
      },
    });
    expect(await findInstanceByKey(ledger.db, made.key)).toEqual(found);
  });

  it('leave out the accounts that nobody named', async () => {
    const made = await makeInstance(ledger.db, { accounts: { subaccountId: 'sa' } });

    const found = await findInstance(ledger.db, made.id);

    expect(found?.instance.accounts).toEqual({ subaccountId: 'sa' });
    expect(Object.keys(found?.instance.accounts ?? {})).toEqual(['subaccountId']);
  });

  it('are not found under an id that nobody has', async () => {
    expect(await findInstance(ledger.db, 'nobody')).toBeUndefined();
    expect(await findInstanceByKey(ledger.db, randomUUID())).toBeUndefined();
  });

  it.each([
    ['255 code points of four bytes', '😀'.repeat(255)],
    ['slashes and dots', '../../etc/passwd'],
    ['what differs in case only', 'ABC'],
    ['combining characters, not composed', 'e\u0301'],
    ['quotes and percent signs', `'; drop table instances; -- %2F "`],
  ])('are found under an id of %s, and only under that', async (_, id) => {
    const made = await makeInstance(ledger.db, { id });

    expect((await findInstance(ledger.db, id))?.instance).toMatchObject({ key: made.key, id });
    expect(await findInstance(ledger.db, `${id.toLowerCase().normalize('NFC')} `)).toBeUndefined();
  });

  it('keep parameters that jsonb would refuse or change', async () => {
    const parameters = { text: 'a\u0000b', half: '\ud800', zero: -0.5, b: 1, a: 2 };
    const made = await makeInstance(ledger.db, { parameters });

    const found = await findInstance(ledger.db, made.id);

    expect(JSON.stringify(found?.instance.parameters)).toBe(JSON.stringify(parameters));
  });

  it('have their id to themselves until they are deleted', async () => {
    const first = await makeInstance(ledger.db);
    const second = newInstance({ id: first.id });
    const insert = () => inTransaction(ledger.db, (tx) => insertInstance(tx, second));

    expect(await insert()).toBe('taken');
    expect((await findInstance(ledger.db, first.id))?.instance.key).toBe(first.key);

    await markInstanceDeleted(ledger.db, first.key, { at: seconds(1) });
    const reused = await makeInstance(ledger.db, { id: first.id, createdAt: seconds(2) });

    const found = await findInstance(ledger.db, first.id);
    expect(found?.instance).toMatchObject({ key: reused.key, deletedAt: undefined });
  });

  it('are inserted once by ten that try at once', async () => {
    const id = randomUUID();
    const attempts = Array.from({ length: 10 }, () =>
      inTransaction(ledger.db, async (tx) => {
        const instance = newInstance({ id });
        const outcome = await insertInstance(tx, instance);
        if (outcome === 'inserted') {
          await startOperation(tx, instance.key, 'provision');
        }
        return outcome;
      }),
    );

    const outcomes = await Promise.all(attempts);

    expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'taken')).toHaveLength(9);
  });

  it('are found as the one deleted last where none has the id now', async () => {
    const id = randomUUID();
    const older = await makeInstance(ledger.db, { id, createdAt: seconds(-3) });
    await markInstanceDeleted(ledger.db, older.key, { at: seconds(1) });
    const newer = await makeInstance(ledger.db, { id, createdAt: seconds(-2) });
    await markInstanceDeleted(ledger.db, newer.key, { at: seconds(3) });
    const between = await makeInstance(ledger.db, { id, createdAt: seconds(-1) });
    await markInstanceDeleted(ledger.db, between.key, { at: seconds(2) });

    const found = await findInstance(ledger.db, id);

    expect(found?.instance).toMatchObject({ key: newer.key, deletedAt: seconds(3) });
  });

  it('are in the state of the operation that was made last, also where times are equal', async () => {
    const made = await makeInstance(ledger.db);
    for (const type of ['update', 'suspend', 'resume', 'deprovision'] as const) {
      const operationId = await startOperation(ledger.db, made.key, type);
      expect((await findInstance(ledger.db, made.id))?.latest).toMatchObject({
        id: operationId,
        type,
        state: 'in progress',
        createdAt: NOW,
      });
      await finishOperation(ledger.db, operationId, 'succeeded');
    }
  });

  it('know their cluster once it was attached', async () => {
    const made = await makeInstance(ledger.db);
    const cluster = {
      uid: 'cluster-uid',
      server: 'https://10.0.0.1:6443',
      certificateAuthorityData: 'Q0E=',
      tlsServerName: 'kubernetes',
    };
    const rev = await revOf(made.key);

    await attachCluster(ledger.db, made.key, { cluster, at: seconds(5) });
    expect((await findInstance(ledger.db, made.id))?.instance.cluster).toEqual(cluster);
    expect(await revOf(made.key)).toBe(rev + 1);

    const bare = { ...cluster, certificateAuthorityData: undefined, tlsServerName: undefined };
    await attachCluster(ledger.db, made.key, { cluster: bare, at: seconds(6) });
    expect((await findInstance(ledger.db, made.id))?.instance.cluster).toEqual(bare);
  });

  it('keep their sealed access past their deletion, until it is erased', async () => {
    const made = await makeInstance(ledger.db, { sealedAccess: 'v1.k.iv.sealed' });
    await markInstanceDeleted(ledger.db, made.key, { at: seconds(1) });
    expect(await readSealedAccess(ledger.db, made.key)).toBe('v1.k.iv.sealed');
    const rev = await revOf(made.key);

    await eraseSettledAccess(ledger.db, { instanceKey: made.key, at: seconds(2) });

    expect(await readSealedAccess(ledger.db, made.key)).toBeUndefined();
    expect(await revOf(made.key)).toBe(rev + 1);
    expect(accessPlace('the-key')).toEqual({
      table: 'instances',
      column: 'sealed_access',
      row: 'the-key',
    });
  });

  it('keep the time of their deletion when it is repeated', async () => {
    const made = await makeInstance(ledger.db);

    await markInstanceDeleted(ledger.db, made.key, { at: seconds(1) });
    await markInstanceDeleted(ledger.db, made.key, { at: seconds(9) });

    expect((await findInstance(ledger.db, made.id))?.instance.deletedAt).toEqual(seconds(1));
  });
});

async function sessionsThatWait({ db }: Ledger): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`
    select count(*) as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows[0]?.waiting ?? 0;
}

describeWith(
  { postgres: true },
  'instances, on PostgreSQL, which alone has several sessions',
  () => {
    let ledger: Ledger;

    beforeAll(async () => {
      ledger = await openPostgresLedger();
    });
    afterAll(() => ledger.close());

    it('are locked for one transaction at a time', async () => {
      const made = await makeInstance(ledger.db);
      const events: string[] = [];
      const release = Promise.withResolvers<void>();
      const isLocked = Promise.withResolvers<void>();

      const first = inTransaction(ledger.db, async (tx) => {
        expect(await lockInstance(tx, made.id)).toBe(made.key);
        isLocked.resolve();
        await release.promise;
        events.push('first is done');
      });
      await isLocked.promise;
      const second = inTransaction(ledger.db, async (tx) => {
        await lockInstance(tx, made.id);
        events.push('second has the lock');
      });
      await until({ what: 'somebody waits for a lock', limitMs: 10_000, isSo: somebodyWaits });
      release.resolve();
      await Promise.all([first, second]);

      expect(events).toEqual(['first is done', 'second has the lock']);
    });

    it('are not locked once deleted, even by one who waited meanwhile', async () => {
      const made = await makeInstance(ledger.db);
      const release = Promise.withResolvers<void>();
      const isLocked = Promise.withResolvers<void>();

      const deleting = inTransaction(ledger.db, async (tx) => {
        await lockInstance(tx, made.id);
        isLocked.resolve();
        await markInstanceDeleted(tx, made.key, { at: NOW });
        await release.promise;
      });
      await isLocked.promise;
      const waiting = inTransaction(ledger.db, (tx) => lockInstance(tx, made.id));
      await until({ what: 'somebody waits for a lock', limitMs: 10_000, isSo: somebodyWaits });
      release.resolve();
      await deleting;

      expect(await waiting).toBeUndefined();
      expect(await inTransaction(ledger.db, (tx) => lockInstance(tx, made.id))).toBeUndefined();
    });

    async function somebodyWaits(): Promise<boolean> {
      const waiting = await sessionsThatWait(ledger);
      return waiting > 0;
    }
  },
);
