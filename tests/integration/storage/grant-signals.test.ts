// Signals about grants, on both databases: who waits hears of its grant and of no other, sleeps no longer than it asked
// for, and looks again whenever something may have been missed.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { type Db, inTransaction } from '../../../src/storage/database.ts';
import { openEmbedded } from '../../../src/storage/embedded.ts';
import { GrantSignals, type SignalSource } from '../../../src/storage/grant-signals.ts';
import {
  endGrant,
  markAwaited,
  markRevoking,
  recordUndoFailure,
} from '../../../src/storage/grants.ts';
import { migrate } from '../../../src/storage/migrate.ts';
import { openPostgres } from '../../../src/storage/postgres.ts';
import { embeddedSignals, postgresSignals } from '../../../src/storage/signal-sources.ts';
import { freshDatabase, freshDataFolder, ownPostgres } from '../../support/database.ts';
import { describeOnEngines, type Engine } from '../../support/engines-under-test.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';
import { announceBinding, issue, LIMITS, makeInstance, seconds, SILENT } from './ledger.ts';

/** Longer than any signal takes on a busy machine, and shorter than a test may take. */
const PATIENCE_MS = 10_000;

interface Opened {
  readonly db: Db;
  readonly source: SignalSource;
  close(): Promise<void>;
}

async function open(engine: Engine): Promise<Opened> {
  if (engine === 'embedded') {
    const folder = freshDataFolder();
    const embedded = openEmbedded(folder.path);
    return {
      db: embedded.db,
      source: embeddedSignals(embedded),
      async close() {
        await embedded.db.destroy();
        folder.remove();
      },
    };
  }
  const database = await freshDatabase();
  const url = new Secret(database.url);
  const db = openPostgres(url, LIMITS);
  return {
    db,
    source: postgresSignals(url),
    async close() {
      await db.destroy();
      await database.drop();
    },
  };
}

function signalsOf(source: SignalSource): GrantSignals {
  return new GrantSignals({
    source,
    clock: () => new Date(),
    sleep: (delayMs, signal) => sleep(delayMs, undefined, { signal }),
    log: SILENT,
  });
}

const never = () => new AbortController().signal;

/** How the wait has ended: by itself, or not within the patience of a test. */
async function outcomeOf(wait: Promise<void>, patienceMs = PATIENCE_MS): Promise<string> {
  return await Promise.race([
    wait.then(() => 'woken'),
    sleep(patienceMs, 'asleep', { ref: false }),
  ]);
}

describeOnEngines('signals about grants', {}, (engine) => {
  let opened: Opened;
  let signals: GrantSignals;
  let instanceKey: string;

  beforeAll(async () => {
    opened = await open(engine);
    await migrate(opened.db);
    signals = signalsOf(opened.source);
    signals.start();
    await untilHeard(opened.db, signals);
    instanceKey = (await makeInstance(opened.db)).key;
  });

  afterAll(async () => {
    await signals.stop();
    await opened.close();
  });

  const announce = async () => (await announceBinding(opened.db, instanceKey)).grant.id;

  const waitFor = (grantId: string) => signals.wait(grantId, { until: undefined, signal: never() });

  it.each([
    ['its outcome', (db: Db, grantId: string) => issue(db, grantId)],
    ['its end', (db: Db, grantId: string) => endGrant(db, { grantId, at: seconds(1), proof: 'p' })],
    [
      'an undo of it that failed',
      (db: Db, grantId: string) =>
        recordUndoFailure(db, { grantId, error: 'e', nextTryAt: seconds(5), at: seconds(1) }),
    ],
  ])('wake who waits for a grant with %s, once it is committed', async (_, change) => {
    const [grantId, other] = [await announce(), await announce()];
    const [waiting, waitingForOther] = [waitFor(grantId), waitFor(other)];
    expect(await markAwaited(opened.db, grantId)).toBe(true);
    expect(await markAwaited(opened.db, other)).toBe(true);
    await inTransaction(opened.db, async (tx) => {
      await change(tx, grantId);
      expect(await outcomeOf(waiting, 100)).toBe('asleep');
    });
    expect(await outcomeOf(waiting)).toBe('woken');
    expect(await outcomeOf(waitingForOther, 100)).toBe('asleep');
  });

  it('wake all who wait for it', async () => {
    const grantId = await announce();
    const waiting = Array.from({ length: 5 }, () => waitFor(grantId));
    await markAwaited(opened.db, grantId);
    await issue(opened.db, grantId);
    expect(await Promise.all(waiting.map((each) => outcomeOf(each)))).toEqual(
      Array.from({ length: 5 }, () => 'woken'),
    );
  });

  it('are not given of a grant that nobody awaits, nor of an order to end it', async () => {
    const [unawaited, ordered] = [await announce(), await announce()];
    const waiting = [waitFor(unawaited), waitFor(ordered)];
    await markAwaited(opened.db, ordered);
    await issue(opened.db, unawaited);
    await markRevoking(opened.db, { grantId: ordered, at: seconds(1) });
    expect(await Promise.all(waiting.map((each) => outcomeOf(each, 200)))).toEqual([
      'asleep',
      'asleep',
    ]);
  });

  it('are not waited for where the outcome or the end is there already', async () => {
    const [issued, ended] = [await announce(), await announce()];
    await issue(opened.db, issued);
    await endGrant(opened.db, { grantId: ended, at: seconds(1), proof: 'p' });
    expect(await markAwaited(opened.db, issued)).toBe(false);
    expect(await markAwaited(opened.db, ended)).toBe(false);
    expect(await markAwaited(opened.db, randomUUID())).toBe(false);
  });

  it('or not: a wait ends at its time, and when it is called off', async () => {
    const calledOff = new AbortController();
    const startedAt = performance.now();
    const byTime = signals.wait(randomUUID(), {
      until: new Date(Date.now() + 300),
      signal: never(),
    });
    const bySignal = signals.wait(randomUUID(), { until: undefined, signal: calledOff.signal });
    expect(await outcomeOf(byTime)).toBe('woken');
    expect(performance.now() - startedAt).toBeGreaterThan(250);
    expect(await outcomeOf(bySignal, 50)).toBe('asleep');
    calledOff.abort();
    expect(await outcomeOf(bySignal)).toBe('woken');
    expect(
      await outcomeOf(signals.wait(randomUUID(), { until: undefined, signal: calledOff.signal })),
    ).toBe('woken');
    expect(
      await outcomeOf(signals.wait(randomUUID(), { until: new Date(0), signal: never() })),
    ).toBe('woken');
  });
});

describeWith({ ownPostgres: true }, 'a connection that hears signals', () => {
  it('is made anew when it was cut, and when the server is there again: who waits looks each time', async () => {
    const postgres = await ownPostgres();
    const url = new Secret(postgres.url);
    const db = openPostgres(url, LIMITS);
    const signals = signalsOf(postgresSignals(url));
    try {
      signals.start();
      await untilHeard(db, signals);
      await until({
        what: 'it waits and is cut',
        limitMs: PATIENCE_MS,
        isSo: async () => {
          const waiting = signals.wait(randomUUID(), { until: undefined, signal: never() });
          return (await cutListener(postgres.url)) === 1 && (await outcomeOf(waiting)) === 'woken';
        },
      });
      await untilHeard(db, signals);

      const whenAway = signals.wait(randomUUID(), { until: undefined, signal: never() });
      await postgres.kill();
      expect(await outcomeOf(whenAway)).toBe('woken');
      // Each try to connect again lets those look who came meanwhile.
      const whileAway = signals.wait(randomUUID(), { until: undefined, signal: never() });
      expect(await outcomeOf(whileAway)).toBe('woken');
      await postgres.restart();
      await untilHeard(db, signals);
    } finally {
      await signals.stop();
      await db.destroy();
      await postgres.stop();
    }
  });

  it('ends when it is stopped, also while there is no server', async () => {
    const nowhere = new Secret('postgres://nobody@127.0.0.1:1/nothing');
    const signals = signalsOf(postgresSignals(nowhere));
    signals.start();
    expect(await outcomeOf(signals.stop())).toBe('woken');
  });
});

/** Of the listening connections of the server's databases. @returns how many there were */
async function cutListener(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rowCount } = await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'runtime-broker signals'`,
  );
  await client.end();
  return rowCount ?? 0;
}

/** Returns once what is announced is heard. */
async function untilHeard(db: Db, signals: GrantSignals): Promise<void> {
  const id = randomUUID();
  await until({
    what: 'signals are heard',
    limitMs: PATIENCE_MS,
    isSo: async () => {
      const heard = signals.wait(id, { until: undefined, signal: AbortSignal.timeout(200) });
      await announceTo(db, id);
      const startedAt = performance.now();
      await heard;
      return performance.now() - startedAt < 150;
    },
  });
}

async function announceTo(db: Db, id: string): Promise<void> {
  await sql`select pg_notify('runtime_broker_grants', ${id})`.execute(db);
}
