// What both databases do alike, below any question that the ledger asks: how values are read, and what becomes of a
// transaction that fails.
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { UpstreamError } from '../../../src/domain/errors.ts';
import { readDatabaseClock } from '../../../src/storage/clock.ts';
import { inTransaction, type Tx } from '../../../src/storage/database.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { type Ledger, openEmptyDatabase } from './ledger.ts';

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describeOnEngines('a database', {}, (engine) => {
  let ledger: Ledger;

  beforeAll(async () => {
    ledger = await openEmptyDatabase(engine);
    await sql`create table things (id integer primary key)`.execute(ledger.db);
  });
  afterAll(() => ledger.close());
  afterEach(async () => {
    await sql`delete from things`.execute(ledger.db);
  });

  const add = (tx: Tx, id: number) => sql`insert into things values (${id})`.execute(tx);
  const things = async () => {
    const { rows } = await sql<{ id: number }>`select id from things order by id`.execute(
      ledger.db,
    );
    return rows.map(({ id }) => id);
  };

  it('reads each kind of value in one form', async () => {
    const { rows } = await sql`select
      count(*) as count,
      9007199254740993::bigint as large,
      timestamptz '2026-02-03 04:05:06.789Z' as at,
      null::timestamptz as never,
      '{"a": [1, "b"]}'::json as json,
      '00000000-0000-4000-8000-000000000001'::uuid as uuid,
      true as flag
    from things`.execute(ledger.db);

    expect(rows).toEqual([
      {
        count: 0,
        large: 9_007_199_254_740_993n,
        at: new Date('2026-02-03T04:05:06.789Z'),
        never: null,
        json: { a: [1, 'b'] },
        uuid: '00000000-0000-4000-8000-000000000001',
        flag: true,
      },
    ]);
    expect(Math.abs((await readDatabaseClock(ledger.db)).getTime() - Date.now())).toBeLessThan(
      60_000,
    );
  });

  it('counts the rows that a statement changed', async () => {
    await sql`insert into things values (1), (2), (3)`.execute(ledger.db);

    const changed = await sql`delete from things where id > 1`.execute(ledger.db);

    expect(changed.numAffectedRows).toBe(2n);
  });

  it('rolls back what throws, and tells what was thrown', async () => {
    const fault = new Error('of the work itself');

    const failure = await failureOf(
      inTransaction(ledger.db, async (tx) => {
        await add(tx, 1);
        throw fault;
      }),
    );

    expect(failure).toBe(fault);
    expect(await things()).toEqual([]);
  });

  it('does not pretend to have committed what a swallowed failure had undone', async () => {
    const failure = await failureOf(
      inTransaction(ledger.db, async (tx) => {
        await add(tx, 1);
        await add(tx, 1).catch(() => undefined);
      }),
    );

    expect(failure).not.toBeInstanceOf(UpstreamError);
    expect(String(failure)).toContain('rolled back');
    expect(await things()).toEqual([]);
  });

  it('leaves a violated constraint as it is, for whoever expects it', async () => {
    await add(ledger.db, 1);

    const failure = await failureOf(add(ledger.db, 1));

    expect(failure).not.toBeInstanceOf(UpstreamError);
    expect(failure).toMatchObject({ code: '23505', constraint: 'things_pkey' });
  });

  it('keeps what runs beside a transaction out of it', async () => {
    const isOpen = Promise.withResolvers<void>();
    const fault = new Error('changed my mind');

    const [failure] = await Promise.all([
      failureOf(
        inTransaction(ledger.db, async (tx) => {
          await add(tx, 1);
          isOpen.resolve();
          // Whatever takes its turn here takes it before the rollback.
          await new Promise(setImmediate);
          await add(tx, 2);
          throw fault;
        }),
      ),
      isOpen.promise.then(() => add(ledger.db, 3)),
      isOpen.promise.then(() => inTransaction(ledger.db, (tx) => add(tx, 4))),
    ]);

    expect(failure).toBe(fault);
    expect(await things()).toEqual([3, 4]);
  });
});
