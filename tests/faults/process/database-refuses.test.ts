// A database that is there and refuses us, or is not migrated, is away for those who ask: 503, and its return needs no
// restart (docs/architecture.md, "One binding, walked").
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { ownPostgres } from '../../support/database.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';

describeWith({ postgres: true }, 'a database that refuses', () => {
  let own: Awaited<ReturnType<typeof ownPostgres>>;
  let admin: pg.Client;
  let broker: TestBroker;

  beforeAll(async () => {
    own = await ownPostgres();
    admin = new pg.Client({ connectionString: own.url });
    await admin.connect();
    await admin.query('create role app login superuser');
    await admin.query('create database ledger owner app');
    const url = new URL(own.url);
    url.username = 'app';
    url.pathname = '/ledger';
    broker = await startBroker({ databaseUrl: url.href });
  });

  afterAll(async () => {
    await broker.stop();
    await admin.end();
    await own.stop();
  });

  const status = async (): Promise<number> =>
    (await broker.platform.getInstance({ instance: 'unknown' })).status;

  it('because our role may not log in, is 503 with Retry-After until it may again', async () => {
    await admin.query('alter role app nologin');
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'",
    );
    await until({
      what: 'it refuses',
      limitMs: 20_000,
      isSo: async () => (await status()) === 503,
    });
    for (let time = 0; time < 3; time += 1) {
      const answer = await broker.platform.getInstance({ instance: 'unknown' });
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    }

    await admin.query('alter role app login');
    await until({
      what: 'it is back',
      limitMs: 20_000,
      isSo: async () => (await status()) === 404,
    });
  });

  it('since a table is missing, is 503 with Retry-After', async () => {
    const url = new URL(own.url);
    url.pathname = '/ledger';
    const inside = new pg.Client({ connectionString: url.href });
    await inside.connect();
    await inside.query('alter table instances rename to elsewhere');
    const answer = await broker.platform.getInstance({ instance: 'unknown' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);

    await inside.query('alter table elsewhere rename to instances');
    await inside.end();
    expect(await status()).toBe(404);
  });
});
