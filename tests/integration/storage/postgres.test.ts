// PostgreSQL as it misbehaves: connections cut at every moment, a server that stops, starts, hangs or is full. What is
// expected is the name of the failure, whether a commit is left open, and that the pool recovers by itself.
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { readDatabaseClock } from '../../../src/storage/clock.ts';
import { type Db, inTransaction, type Tx } from '../../../src/storage/database.ts';
import { commitOutcomeIsUnknown } from '../../../src/storage/failures.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { openPostgres } from '../../../src/storage/postgres.ts';
import { ownPostgres } from '../../support/database.ts';
import { describeWith } from '../../support/needs.ts';
import type { Postgres } from '../../support/real-parts/postgres.ts';
import { until } from '../../support/until.ts';
import { startFreezingProxy } from './freezing-proxy.ts';
import { LIMITS, openEmptyPostgres, type PostgresLedger } from './ledger.ts';

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function backendOf(tx: Tx): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
  return rows[0]?.pid ?? 0;
}

async function terminate(db: Db, pid: number): Promise<void> {
  await sql`select pg_terminate_backend(${pid})`.execute(db);
}

async function isThere(db: Db, pid: number): Promise<boolean> {
  const { rows } = await sql`select from pg_stat_activity where pid = ${pid}`.execute(db);
  return rows.length > 0;
}

async function isWaiting(db: Db, pid: number, event: string): Promise<boolean> {
  const { rows } = await sql<{ wait_event: string | null }>`
    select wait_event from pg_stat_activity where pid = ${pid}`.execute(db);
  return rows[0]?.wait_event === event;
}

describeWith({ postgres: true }, 'a connection to PostgreSQL', () => {
  let ledger: PostgresLedger;
  /** For what is done to the connections of `ledger.db`. */
  let aside: Db;

  beforeAll(async () => {
    ledger = await openEmptyPostgres();
    aside = ledger.open({ maxConnections: 1 });
    await sql`create table things (id integer primary key)`.execute(aside);
  });
  afterAll(() => ledger.close());
  afterEach(async () => {
    await sql`delete from things`.execute(aside);
  });

  const add = (tx: Tx, id: number) => sql`insert into things values (${id})`.execute(tx);
  const things = async () => {
    const { rows } = await sql<{ id: number }>`select id from things order by id`.execute(aside);
    return rows.map(({ id }) => id);
  };

  it('reads counts as numbers and times in one form, whatever the server prefers', async () => {
    const { rows: names } = await sql<{ name: string }>`
      select current_database() as name`.execute(aside);
    await sql`alter database ${sql.id(names[0]?.name ?? '')} set datestyle = 'SQL, DMY'`.execute(
      aside,
    );
    const db = ledger.open();

    const { rows } = await sql<{ count: unknown; at: unknown }>`
      select count(*) as count, timestamptz '2026-02-03 04:05:06.789Z' as at from things`.execute(
      db,
    );

    expect(rows).toEqual([{ count: 0, at: new Date('2026-02-03T04:05:06.789Z') }]);
    expect(Math.abs((await readDatabaseClock(db)).getTime() - Date.now())).toBeLessThan(60_000);
  });

  it('has the server parse a statement once, and keeps a bounded number of them', async () => {
    const db = ledger.open({ maxConnections: 1 });
    const prepared = async (like: string) => {
      const { rows } = await sql<{ count: number }>`
        select count(*) as count from pg_prepared_statements where statement like ${like}`.execute(
        db,
      );
      return rows[0]?.count;
    };
    for (let round = 0; round < 5; round += 1) {
      await sql`select ${round}::int as prepared_once`.execute(db);
    }
    expect(await prepared('%as prepared\\_once')).toBe(1);

    for (let at = 0; at < 300; at += 1) {
      await sql`select ${sql.lit(at)} as one_of_many`.execute(db);
    }
    expect(await prepared('%')).toBeLessThanOrEqual(200);
    expect(await prepared('%as one\\_of\\_many')).toBeGreaterThan(150);
  });

  it('that is cut between two statements fails the next, commits nothing, and is replaced', async () => {
    const failure = await failureOf(
      inTransaction(ledger.db, async (tx) => {
        await add(tx, 1);
        const pid = await backendOf(tx);
        await terminate(aside, pid);
        await until({
          what: 'the session is gone',
          limitMs: 10_000,
          isSo: async () => !(await isThere(aside, pid)),
        });
        await add(tx, 2);
      }),
    );

    expect(failure).toMatchObject({ system: 'database', reason: 'cut', action: 'write rows' });
    expect(commitOutcomeIsUnknown(failure)).toBe(false);
    await add(ledger.db, 3);
    expect(await things()).toEqual([3]);
  });

  it('that is cut under a write outside a transaction leaves open whether it was committed', async () => {
    const db = ledger.open({ maxConnections: 1 });
    const pid = await backendOf(db);

    const [failure] = await Promise.all([
      failureOf(sql`insert into things select 1 from pg_sleep(30)`.execute(db)),
      untilItSleeps(pid).then(() => terminate(aside, pid)),
    ]);

    expect(failure).toMatchObject({ reason: 'cut', action: 'commit statement', retryable: true });
    expect(commitOutcomeIsUnknown(failure)).toBe(true);
  });

  it('that is cut under a read leaves nothing open', async () => {
    const db = ledger.open({ maxConnections: 1 });
    const pid = await backendOf(db);

    const [failure] = await Promise.all([
      failureOf(sql`select pg_sleep(30)`.execute(db)),
      untilItSleeps(pid).then(() => terminate(aside, pid)),
    ]);

    expect(failure).toMatchObject({ reason: 'cut', action: 'read rows' });
    expect(commitOutcomeIsUnknown(failure)).toBe(false);
  });

  it('that is cut under a commit leaves open whether it was committed', async () => {
    await sql`create function nap() returns trigger language plpgsql as
      $$ begin perform pg_sleep(30); return null; end $$`.execute(aside);
    await sql`create constraint trigger nap after insert on things
      deferrable initially deferred for each row when (new.id = 77) execute function nap()`.execute(
      aside,
    );
    const pid = Promise.withResolvers<number>();

    const [failure] = await Promise.all([
      failureOf(
        inTransaction(ledger.db, async (tx) => {
          pid.resolve(await backendOf(tx));
          await add(tx, 77);
        }),
      ),
      pid.promise.then(async (sleeping) => {
        await untilItSleeps(sleeping);
        await terminate(aside, sleeping);
      }),
    ]);

    expect(failure).toMatchObject({ reason: 'cut', action: 'commit transaction' });
    expect(commitOutcomeIsUnknown(failure)).toBe(true);
  });

  it('that is cut while idle is replaced, and told in the log', async () => {
    const lines: string[] = [];
    const log = createLogger(
      { level: 'warn', format: 'json' },
      { write: (line) => lines.push(line) },
    );
    const db = ledger.open({ maxConnections: 1, log });
    const pid = await backendOf(db);

    await terminate(aside, pid);
    await until({
      what: 'the loss was logged',
      limitMs: 10_000,
      isSo: () => lines.length > 0,
    });

    expect(lines).toEqual([
      expect.stringContaining('an idle connection to the database was lost') as string,
    ]);
    expect(await backendOf(db)).not.toBe(pid);
  });

  it('ends a statement that takes too long, and is used again', async () => {
    const db = ledger.open({ maxConnections: 1, statementTimeoutMs: 100 });
    const pid = await backendOf(db);

    const failure = await failureOf(sql`insert into things select 1 from pg_sleep(30)`.execute(db));

    expect(failure).toMatchObject({ reason: 'timed-out', action: 'commit statement' });
    // The server said so itself, so it is known to have undone it.
    expect(commitOutcomeIsUnknown(failure)).toBe(false);
    expect(await backendOf(db)).toBe(pid);
  });

  it('is waited for within limits where all are in use', async () => {
    const db = ledger.open({ maxConnections: 1, connectTimeoutMs: 100 });
    const release = Promise.withResolvers<void>();
    const isBusy = Promise.withResolvers<void>();
    const busy = inTransaction(db, async (tx) => {
      await backendOf(tx);
      isBusy.resolve();
      await release.promise;
    });
    await isBusy.promise;

    const failure = await failureOf(add(db, 1));
    release.resolve();
    await busy;

    expect(failure).toMatchObject({ reason: 'timed-out', action: 'open connection' });
    expect(commitOutcomeIsUnknown(failure)).toBe(false);
    await add(db, 1);
  });

  it('to a database or as a user that is not there is not worth repeating', async () => {
    const noDatabase = open(ledger.url.reveal().replace(/\w+$/, 'no_such_database'));
    const noUser = open(ledger.url.reveal().replace('postgres@', 'no_such_user@'));

    expect(await failureOf(backendOf(noDatabase))).toMatchObject({
      reason: 'not-found',
      action: 'open connection',
      retryable: false,
    });
    expect(await failureOf(backendOf(noUser))).toMatchObject({ reason: 'unauthorized' });
    await Promise.all([noDatabase.destroy(), noUser.destroy()]);
  });

  it('whose server has gone silent is given up, and the outcome of a write left open', async () => {
    const proxy = await startFreezingProxy(ledger.url);
    const db = open(proxy.url, { maxConnections: 1, statementTimeoutMs: 100 });
    await backendOf(db);
    proxy.freeze();

    const failure = await failureOf(add(db, 1));

    expect(failure).toMatchObject({ reason: 'timed-out', action: 'commit statement' });
    expect(commitOutcomeIsUnknown(failure)).toBe(true);
    proxy.thaw();
    await backendOf(db);
    await db.destroy();
    await proxy.stop();
  });

  it('to a server that accepts and never answers is given up in time', async () => {
    const proxy = await startFreezingProxy(ledger.url);
    proxy.freeze();
    const db = open(proxy.url, { connectTimeoutMs: 100 });

    expect(await failureOf(backendOf(db))).toMatchObject({
      reason: 'timed-out',
      action: 'open connection',
    });

    await db.destroy();
    await proxy.stop();
  });

  it('is refused at once, and without the password in the error, where the URL is none', () => {
    const open = () => openPostgres(new Secret('postgres://user:hunter2@[host'), LIMITS);

    expect(open).toThrow('the URL of the database');
    expect(open).not.toThrow('hunter2');
  });

  async function untilItSleeps(pid: number): Promise<void> {
    await until({
      what: 'the statement sleeps',
      limitMs: 10_000,
      isSo: () => isWaiting(aside, pid, 'PgSleep'),
    });
  }
});

describeWith({ ownPostgres: true }, 'a PostgreSQL that goes away', () => {
  let server: Postgres;
  let db: Db;

  beforeAll(async () => {
    server = await ownPostgres();
    db = open(server.url);
  });
  afterAll(async () => {
    await db.destroy();
    await server.stop();
  });

  it('fails statements until it is back, and needs no new pool then', async () => {
    const pid = await backendOf(db);
    await sql`create table kept (id integer)`.execute(db);
    await sql`insert into kept values (1)`.execute(db);

    await server.kill();
    const failures = [await failureOf(backendOf(db)), await failureOf(backendOf(db))];
    expect(failures.at(-1)).toMatchObject({
      system: 'database',
      reason: 'unreachable',
      action: 'open connection',
      retryable: true,
    });

    await server.restart();
    expect(await backendOf(db)).not.toBe(pid);
    const { rows } = await sql`select id from kept`.execute(db);
    expect(rows).toEqual([{ id: 1 }]);
  });
});

function open(url: string, options: Partial<typeof LIMITS> = {}): Db {
  return openPostgres(new Secret(url), { ...LIMITS, ...options });
}
