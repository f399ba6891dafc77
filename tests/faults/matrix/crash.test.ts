// The crash matrix (design 2.1): the real process is killed with SIGKILL right after each write of the ledger and each
// call of the cluster, for each act that makes or ends a credential, on PostgreSQL and a real API server. Another one
// is started, and once nothing is due in the ledger any more: every grant that lives has its row and its objects, no
// ended row has any, the id can be bound, and the limit counts what is there.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId, untilOperationEnds } from '../../integration/bindings/scene.ts';
import { type BrokerProcess, startBrokerProcess } from '../../support/broker-process.ts';
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

/** In the order of the alphabet: calls that fly together arrive in any order. */
function page(act: string, points: readonly CrashPoint[]): string {
  const lines = points.map(({ step, occurrence }) => `${step} (${occurrence})`).toSorted();
  return `${act}, killed right after\n${lines.join('\n')}\n`;
}

/** What is done, and how the ground for it is laid. */
interface Act {
  readonly name: string;
  readonly prepare: (ids: Ids) => Promise<void>;
  readonly run: (ids: Ids) => Promise<unknown>;
}

describeWith({ postgres: true, cluster: true }, 'the crash matrix', () => {
  let database: FreshDatabase;
  let ledger: LedgerEyes;
  let eyes: ClusterEyes;
  let cluster: ClusterProxy;
  let statements: StatementProxy;
  let broker: BrokerProcess;
  let env: Readonly<Record<string, string>>;
  let instance: string;

  beforeAll(async () => {
    const key = randomBytes(32).toString('base64');
    recordSecret('sealing key', key);
    env = { RUNTIME_BROKER_SEALING_KEYS: `matrix:${key}` };
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
  const proxies = (): Proxies => ({ statements, cluster, isPass: false });

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
    expect.soft(first, `${what}: the point is reached`).toBe('reached');
    await broker.end('SIGKILL');
    armed.disarm();
    broker = await start();
    const witnesses = { ledger, eyes, platform: broker.platform };
    await bringForward(witnesses);
    await settled(witnesses, what);
    await expectAllRight(witnesses, ids, what);
  }
});
