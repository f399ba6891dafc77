// Waking operations: after the commit and only then, once for many wake-ups, on any replica, whatever the handler or
// the database does. What is due of an operation is its row's business, not tested here.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { UpstreamError } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { type Db, inTransaction } from '../../../src/storage/database.ts';
import { type JobDatabase, JobEngine, type WakeHandler } from '../../../src/storage/job-engine.ts';
import { ownPostgres } from '../../support/database.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { describeWith } from '../../support/needs.ts';
import type { Postgres } from '../../support/real-parts/postgres.ts';
import { until } from '../../support/until.ts';
import { type Ledger, LIMITS, NOW, openLedger, seconds, SILENT } from './ledger.ts';
import { openPostgres } from '../../../src/storage/postgres.ts';

/** Polling finds a job within two seconds; what comes later has been lost. */
const SOON_MS = 15_000;

function engineOn(database: JobDatabase, handler: WakeHandler): JobEngine {
  const engine = new JobEngine({
    database,
    clock: () => NOW,
    stopTimeoutMs: 5_000,
    log: SILENT,
  });
  engine.onWake(handler);
  return engine;
}

function recorder(): { readonly woken: string[]; readonly handler: WakeHandler } {
  const woken: string[] = [];
  return {
    woken,
    handler: (operationId) => {
      woken.push(operationId);
      return Promise.resolve();
    },
  };
}

function secondsBetween(from: Date, to: Date): number {
  return Math.round((to.getTime() - from.getTime()) / 1000);
}

describeOnEngines('the job engine', {}, (kind) => {
  let ledger: Ledger;
  let engines: JobEngine[];

  beforeAll(async () => {
    ledger = await openLedger(kind);
  });
  afterAll(() => ledger.close());
  beforeEach(() => {
    engines = [];
  });
  afterEach(async () => {
    await Promise.all(engines.map((engine) => engine.stop()));
  });

  async function started(handler: WakeHandler): Promise<JobEngine> {
    const engine = engineOn(ledger.jobs, handler);
    engines.push(engine);
    await engine.start();
    return engine;
  }

  const untilWoken = (woken: readonly string[], ...operationIds: readonly string[]) =>
    until({
      what: 'the operations are woken',
      limitMs: SOON_MS,
      isSo: () => operationIds.every((operationId) => woken.includes(operationId)),
    });

  const waiting = async (operationId: string) => {
    const { rows } = await sql<{ start_after: Date; now: Date }>`
      select start_after, clock_timestamp() as now from pgboss.job
      where singleton_key = ${operationId} and state = 'created'`.execute(ledger.db);
    return rows.map(({ start_after, now }) => secondsBetween(now, start_after));
  };

  it('wakes an operation once the transaction that asked for it has committed', async () => {
    const { woken, handler } = recorder();
    const engine = await started(handler);
    const [rolledBack, committed] = [randomUUID(), randomUUID()];

    await inTransaction(ledger.db, async (tx) => {
      await engine.wake(tx, { operationId: rolledBack, at: NOW });
      throw new Error('changed my mind');
    }).catch(() => undefined);
    await inTransaction(ledger.db, (tx) => engine.wake(tx, { operationId: committed, at: NOW }));
    await untilWoken(woken, committed);

    expect(woken).toEqual([committed]);
    expect(await waiting(rolledBack)).toEqual([]);
  });

  it('wakes outside a transaction too, and a time that has passed means now', async () => {
    const { woken, handler } = recorder();
    const engine = await started(handler);
    const operationId = randomUUID();

    await engine.wake(ledger.db, { operationId, at: seconds(-3600) });
    await untilWoken(woken, operationId);

    expect(woken).toEqual([operationId]);
  });

  it('keeps one wake-up of an operation waiting, which the latest one moves', async () => {
    const { woken, handler } = recorder();
    const engine = await started(handler);
    const operationId = randomUUID();

    await engine.wake(ledger.db, { operationId, at: seconds(7200) });
    expect(await waiting(operationId)).toEqual([7200]);
    await Promise.all(
      Array.from({ length: 5 }, () =>
        inTransaction(ledger.db, (tx) => engine.wake(tx, { operationId, at: seconds(3600) })),
      ),
    );
    expect(await waiting(operationId)).toEqual([3600]);
    expect(woken).toEqual([]);

    await engine.wake(ledger.db, { operationId, at: NOW });
    await untilWoken(woken, operationId);
    expect(woken).toEqual([operationId]);
  });

  it('does not keep an operation waiting for twenty that hang, and waits for those at its stop', async () => {
    const woken: string[] = [];
    const hanging = new Set<string>(Array.from({ length: 20 }, () => randomUUID()));
    const released = Promise.withResolvers<undefined>();
    const ended: string[] = [];
    const engine = await started(async (id) => {
      woken.push(id);
      if (hanging.has(id)) await released.promise;
      ended.push(id);
    });
    for (const id of hanging) await engine.wake(ledger.db, { operationId: id, at: NOW });
    const healthy = randomUUID();
    await engine.wake(ledger.db, { operationId: healthy, at: NOW });

    await untilWoken(woken, healthy);
    expect(ended).toEqual([healthy]);

    const stopped = engine.stop();
    released.resolve(undefined);
    await stopped;
    expect(ended).toHaveLength(21);
  });

  it('can put off an operation from within its own handler', async () => {
    const woken: string[] = [];
    const operationId = randomUUID();
    const engine: JobEngine = await started(async (id) => {
      woken.push(id);
      if (woken.length === 1) {
        await engine.wake(ledger.db, { operationId: id, at: NOW });
      }
    });

    await engine.wake(ledger.db, { operationId, at: NOW });

    await until({ what: 'it was woken twice', limitMs: SOON_MS, isSo: () => woken.length === 2 });
    expect(woken).toEqual([operationId, operationId]);
  });

  it('wakes on one of the replicas, which may all start at once', async () => {
    const { woken, handler } = recorder();
    const replicas = Array.from({ length: 3 }, () => engineOn(ledger.jobs, handler));
    engines.push(...replicas);
    await Promise.all(replicas.map((replica) => replica.start()));
    const operationIds = Array.from({ length: 12 }, () => randomUUID());

    await inTransaction(ledger.db, async (tx) => {
      for (const operationId of operationIds) {
        await replicas[0]?.wake(tx, { operationId, at: NOW });
      }
    });
    await untilWoken(woken, ...operationIds);

    expect(woken.toSorted()).toEqual(operationIds.toSorted());
  });

  it('tries again what a handler threw at, and keeps nothing of the error', async () => {
    const attempts: string[] = [];
    const engine = await started((id) => {
      attempts.push(id);
      return attempts.length === 1
        ? Promise.reject(new Error('of the handler: s3cret'))
        : Promise.resolve();
    });
    const operationId = randomUUID();

    await engine.wake(ledger.db, { operationId, at: NOW });
    await until({
      what: 'it was tried again',
      limitMs: SOON_MS,
      isSo: () => attempts.length === 2,
    });

    const { rows } = await sql<{ jobs: string }>`
      select coalesce(string_agg(job::text, ' '), '') as jobs from pgboss.job`.execute(ledger.db);
    expect(rows[0]?.jobs).toContain(operationId);
    expect(rows[0]?.jobs).not.toContain('s3cret');
  });

  it('waits at its stop for the handler that runs', async () => {
    const isRunning = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const ended: string[] = [];
    const engine = await started(async () => {
      isRunning.resolve();
      await release.promise;
      ended.push('handler');
    });
    await engine.wake(ledger.db, { operationId: randomUUID(), at: NOW });
    await isRunning.promise;

    const stopping = engine.stop().then(() => ended.push('engine'));
    release.resolve();
    await stopping;

    expect(ended).toEqual(['handler', 'engine']);
  });

  it('leaves the transaction alone before its start and after its stop', async () => {
    const { handler } = recorder();
    const engine = engineOn(ledger.jobs, handler);
    await inTransaction(ledger.db, (tx) => engine.wake(tx, { operationId: 'x', at: NOW }));

    await engine.start();
    await engine.stop();

    await inTransaction(ledger.db, (tx) => engine.wake(tx, { operationId: 'x', at: NOW }));
    await engine.stop();
    expect(await waiting('x')).toEqual([]);
  });
});

describeWith({ ownPostgres: true }, 'the job engine, while the database goes and comes', () => {
  let server: Postgres;
  let db: Db;

  beforeAll(async () => {
    server = await ownPostgres();
    db = openPostgres(new Secret(server.url), LIMITS);
  });
  afterAll(async () => {
    await db.destroy();
    await server.stop();
  });

  it('starts when it is asked again, goes on after an outage, and stops in the next', async () => {
    const { woken, handler } = recorder();
    const engine = engineOn({ kind: 'postgres', url: new Secret(server.url) }, handler);
    await server.kill();
    const failure = await engine.start().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UpstreamError);
    expect(failure).toMatchObject({ system: 'database', reason: 'unreachable' });

    await server.restart();
    await engine.start();
    await server.kill();
    await server.restart();
    const operationId = randomUUID();
    await until({
      what: 'the database takes the wake-up',
      limitMs: SOON_MS,
      isSo: async () => {
        await engine.wake(db, { operationId, at: NOW });
        return true;
      },
    });
    await until({
      what: 'the operation is woken',
      limitMs: 25_000,
      isSo: () => woken.includes(operationId),
    });

    await server.kill();
    await engine.stop();
    await server.restart();
  }, 60_000);
});
