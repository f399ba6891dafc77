// The crash matrix: the real process is killed with SIGKILL right after each write of the ledger and each
// call of the cluster, for each act that makes or ends a credential, on PostgreSQL and a real API server. Another one
// is started, and once nothing is due in the ledger any more: every grant that lives has its row and its objects, no
// ended row has any, the id can be bound, and the limit counts what is there.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { makeMark } from '../../../src/kubernetes/grant-mark.ts';
import { markKeyPlace } from '../../../src/storage/installation.ts';
import { Sealer, type SealingKey } from '../../../src/storage/sealing.ts';
import { newId, untilOperationEnds } from '../../integration/bindings/scene.ts';
import { type BrokerProcess, runMain, startBrokerProcess } from '../../support/broker-process.ts';
import { brokerSettings } from '../../support/broker-settings.ts';
import { type ClusterEyes, openClusterEyes } from '../../support/cluster-administrator.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { sharedCluster } from '../../support/cluster.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { recordSecret } from '../../support/leak-record.ts';
import { type LedgerEyes, openLedgerEyes } from '../../support/ledger-dump.ts';
import { describeWith } from '../../support/needs.ts';
import type { Ids } from '../../support/platform.ts';
import { armPoint, type CrashPoint, type Proxies, watchAct } from './crash-points.ts';
import { bringForward, expectAllRight, settled } from './ledger-and-cluster.ts';
import { type StatementProxy, startStatementProxy } from './statement-proxy.ts';

/** Each point takes a start of a process, some seconds; an act has some twenty points. */
const ACT_LIMIT_MS = 15 * 60 * 1000;

/** What was cut off where, for docs/reliability.md. After a change of the code's steps: `vitest run -u`. */
const PAGE = (act: string) => `crash-points/${act.replaceAll(' ', '-')}.txt`;

/**
 * Who a cluster is is asked over new connections alone, and how often a pass looks for what is due depends on what comes
 * first. Where such a point is not reached, the process is killed at the end of the act instead.
 */
function isInEveryRun({ step, occurrence }: CrashPoint): boolean {
  return occurrence === 1 && !step.endsWith('GET /api/v1/namespaces/kube-system');
}

/** In the order of the alphabet, each once: calls that fly together arrive in any order, and how often is asked varies. */
function page(act: string, points: readonly CrashPoint[]): string {
  const sure = points.filter(isInEveryRun).map(({ step }) => step);
  const lines = [...new Set(sure)].toSorted();
  return `${act}, killed right after\n${lines.join('\n')}\n`;
}

/** What is done, and how the ground for it is laid. */
interface Act {
  readonly name: string;
  readonly prepare: (ids: Ids) => Promise<void>;
  readonly run: (ids: Ids) => Promise<unknown>;
}

/** What a reconciler does, run by a process of its own, so that nothing else of the background is counted or killed. */
interface Sweep {
  readonly name: string;
  /** The broker is stopped; something was bound by it. */
  readonly prepare: (ids: Ids) => Promise<void>;
  readonly args: readonly string[];
}

/** Older than the age guard of an orphan, and than any lease. */
const MARKED_AGO_MS = 10 * 60 * 1000;

describeWith({ postgres: true, cluster: true }, 'the crash matrix', () => {
  let database: FreshDatabase;
  let ledger: LedgerEyes;
  let eyes: ClusterEyes;
  let cluster: ClusterProxy;
  let statements: StatementProxy;
  let broker: BrokerProcess;
  let env: Readonly<Record<string, string>>;
  let instance: string;
  let sealingKeys: readonly [SealingKey];

  beforeAll(async () => {
    const key = randomBytes(32).toString('base64');
    recordSecret('sealing key', key);
    env = { RUNTIME_BROKER_SEALING_KEYS: `matrix:${key}` };
    sealingKeys = [{ id: 'matrix', key: new Secret(Buffer.from(key, 'base64')) }];
    database = await freshDatabase();
    ledger = openLedgerEyes(database.url);
    eyes = openClusterEyes(sharedCluster().adminKubeconfig);
    cluster = await openClusterProxy(sharedCluster());
    statements = await startStatementProxy(database.url);
    broker = await start();
    instance = newId('matrix');
    await broker.platform.provision({ instance }, cluster.adminKubeconfig);
    await untilOperationEnds(broker.platform, { instance }, 'succeeded');
  });

  afterAll(async () => {
    await broker.end('SIGTERM');
    await Promise.all([cluster.stop(), statements.stop(), ledger.close(), eyes.close()]);
    await database.drop();
  });

  const start = () => startBrokerProcess({ databaseUrl: statements.url, env });
  const command = (args: readonly string[]) =>
    runMain(args, brokerSettings(statements.url, env).env);
  const proxies = (isPass = false): Proxies => ({ statements, cluster, isPass });

  const bind: Act = {
    name: 'bind',
    prepare: () => Promise.resolve(),
    run: (ids) => broker.platform.bind(ids),
  };
  const unbind: Act = {
    name: 'unbind',
    prepare: async (ids) => {
      expect((await broker.platform.bind(ids)).status).toBe(201);
    },
    run: (ids) => broker.platform.unbind(ids),
  };
  /** A PUT that finds what the attempt before it has left behind, since that could not be undone. */
  const takeOver: Act = {
    name: 'take over',
    prepare: async (ids) => {
      expect((await broker.platform.bind(ids)).status).toBe(201);
      const silent = cluster.misbehave({
        on: /^(PATCH|DELETE) /,
        act: { kind: 'answer', status: 503 },
      });
      expect((await broker.platform.unbind(ids)).status).toBe(503);
      silent.end();
      // Nobody but the act is to finish it.
      await ledger.sql(`update grants set next_try_at = now() + interval '1 hour'
        where ended_at is null and revoking_since is not null`);
    },
    run: (ids) => broker.platform.bind(ids),
  };

  describe.each([bind, unbind, takeOver])('$name', (act) => {
    it(
      'leaves nothing that one sweep does not settle, wherever it is cut off',
      async () => {
        const points = await pointsOf(act);
        expect(points.filter(({ step }) => step.startsWith('ledger: '))).not.toEqual([]);
        expect(points.filter(({ step }) => step.startsWith('cluster: '))).not.toEqual([]);
        for (const point of points) {
          await atPoint(act, point);
        }
        await expect(page(act.name, points)).toMatchFileSnapshot(PAGE(act.name));
      },
      ACT_LIMIT_MS,
    );
  });

  const expire: Sweep = {
    name: 'expire',
    prepare: async ({ binding }) => {
      await ledger.sql(
        `update grants set expires_at = now() - interval '1 second', next_try_at = now()
        where binding_id = $1`,
        [binding],
      );
    },
    args: ['cleanup'],
  };
  /** Its row is gone, as by a restored database, which an operator has confirmed. */
  const orphanScan: Sweep = {
    name: 'orphan scan',
    prepare: async ({ binding = '' }) => {
      await makeOrphan(binding);
      await turnComes();
      await ledger.sql(`insert into suspected_restores
        select cluster_uid, now(), 'any', now() from instances where cluster_uid is not null
        on conflict (cluster_uid) do update set confirmed_at = now()`);
    },
    args: ['cleanup', '--orphans'],
  };

  describe.each([expire, orphanScan])('$name', (sweep) => {
    it(
      'leaves nothing that one sweep does not settle, wherever it is cut off',
      async () => {
        await boundAndStopped(sweep, newId('watched'));
        const points = await watchAct(proxies(true), () => sweepDone(sweep));
        expect(points.filter(({ step }) => step.startsWith('cluster: '))).not.toEqual([]);
        broker = await start();
        for (const point of points) {
          await sweepAtPoint(sweep, point);
        }
        await expect(page(sweep.name, points)).toMatchFileSnapshot(PAGE(sweep.name));
      },
      ACT_LIMIT_MS,
    );
  });

  async function boundAndStopped(sweep: Sweep, binding: string): Promise<void> {
    expect((await broker.platform.bind({ instance, binding })).status).toBe(201);
    await broker.end('SIGTERM');
    await sweep.prepare({ instance, binding });
  }

  async function sweepDone({ args }: Sweep): Promise<void> {
    const run = command(args);
    expect(await run.ended(), run.output()).toBe(0);
  }

  async function sweepAtPoint(sweep: Sweep, point: CrashPoint): Promise<void> {
    const ids = { instance, binding: newId('cut-off') };
    const what = `${sweep.name}, ${point.step} (${point.occurrence})`;
    await boundAndStopped(sweep, ids.binding);
    const armed = armPoint(proxies(true), point);
    const run = command(sweep.args);
    const first = await Promise.race([armed.reached.then(() => 'reached'), run.ended()]);
    expect(isInEveryRun(point) ? first : 'reached', `${what}: is reached`).toBe('reached');
    run.child.kill('SIGKILL');
    await run.ended();
    armed.disarm();
    // What the dead one had claimed is free when its lease ends.
    await ledger.sql('update grants set leased_until = now() where leased_until is not null');
    await turnComes();
    await bringForward({ ledger });
    await sweepDone(sweep);
    broker = await start();
    const witnesses = { ledger, eyes, platform: broker.platform };
    await settled(witnesses, what);
    await expectAllRight(witnesses, ids, what);
  }

  /** Of each cluster, to be scanned: a broker that ran may have just done so, or was killed when it began. */
  async function turnComes(): Promise<void> {
    await ledger.sql('update instances set next_scan_at = null');
  }

  async function makeOrphan(binding: string): Promise<void> {
    const rows = await ledger.sql<{ name: string }>(
      `with forgotten as (delete from bindings where id = $1)
      delete from grants where binding_id = $1 returning name`,
      [binding],
    );
    const [installation] = await ledger.sql<{ id: string; sealed: string }>(
      'select id, sealed_mark_key as sealed from installation',
    );
    const { id = '', sealed = '' } = installation ?? {};
    const key = new Sealer(sealingKeys).open(sealed, markKeyPlace(id)).reveal();
    const marker = { installation: id, key: new Secret(Buffer.from(key, 'base64')) };
    const issuedAt = new Date(Date.now() - MARKED_AGO_MS);
    for (const { name } of rows) {
      const mark = makeMark(marker, { name, issuedAt });
      const patch = { metadata: { annotations: { 'runtime-broker/mark': mark } } };
      for (const path of pathsOf(name)) await eyes.call('PATCH', path, patch);
    }
  }

  async function pointsOf(act: Act): Promise<readonly CrashPoint[]> {
    const ids = { instance, binding: newId('watched') };
    await act.prepare(ids);
    const points = await watchAct(proxies(), () => act.run(ids));
    await broker.platform.unbind(ids);
    return points;
  }

  async function atPoint(act: Act, point: CrashPoint): Promise<void> {
    const ids = { instance, binding: newId('cut-off') };
    const what = `${act.name}, ${point.step} (${point.occurrence})`;
    await act.prepare(ids);
    const armed = armPoint(proxies(), point);
    const answer = act.run(ids).then(
      () => 'answered',
      () => 'hung up',
    );
    const first = await Promise.race([armed.reached.then(() => 'reached'), answer]);
    expect(isInEveryRun(point) ? first : 'reached', `${what}: is reached`).toBe('reached');
    await broker.end('SIGKILL');
    armed.disarm();
    broker = await start();
    const witnesses = { ledger, eyes, platform: broker.platform };
    await bringForward(witnesses);
    await settled(witnesses, what);
    await expectAllRight(witnesses, ids, what);
  }
});

function pathsOf(name: string): readonly string[] {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  return [
    `/api/v1/namespaces/kyma-system/serviceaccounts/${name}`,
    `${rbac}/clusterroles/${name}`,
    `${rbac}/clusterrolebindings/${name}`,
  ];
}
