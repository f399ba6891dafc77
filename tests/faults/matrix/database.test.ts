// The database matrix (docs/reliability.md): for each write of a bind and of an unbind, the database fails
// right before it, right after it (so that the acknowledgement is lost, a commit's too), or refuses it as a serialization
// failure. Never a 201 whose row is not durable, never a live row with a dead credential, never a live grant forgotten.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';
import { freshDatabase } from '../../support/database.ts';
import { type LedgerEyes, openLedgerEyes } from '../../support/ledger-dump.ts';
import { describeWith } from '../../support/needs.ts';
import type { Ids, OsbAnswer } from '../../support/platform.ts';
import { type CrashPoint, StepCounter, stepOfStatement, watchAct } from './crash-points.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { bringForward, expectAllRight, settled } from './ledger-and-cluster.ts';
import { type StatementProxy, startStatementProxy, type Watcher } from './statement-proxy.ts';

/** Each case is a request, a sweep, and four requests more; what is put off waits for the next beat of the replica. */
const ACT_LIMIT_MS = 10 * 60 * 1000;

type Fault = 'cut before' | 'cut after' | 'refused as a serialization failure';

const FAULTS: readonly Fault[] = ['cut before', 'cut after', 'refused as a serialization failure'];

interface Act {
  readonly name: string;
  readonly isBoundBefore: boolean;
  readonly run: (ids: Ids) => Promise<OsbAnswer<object>>;
  /** That a fault may be answered by; a retry of ours that got through gives the success. */
  readonly answers: readonly number[];
}

describeWith({ postgres: true, cluster: true }, 'the database matrix', () => {
  let scene: Scene;
  let ledger: LedgerEyes;
  let cluster: ClusterProxy;
  let statements: StatementProxy;
  let instance: string;

  beforeAll(async () => {
    const database = await freshDatabase();
    ledger = openLedgerEyes(database.url);
    statements = await startStatementProxy(database.url);
    scene = await openScene({
      database: {
        ...database,
        url: statements.url,
        drop: async () => {
          await ledger.close();
          await statements.stop();
          await database.drop();
        },
      },
    });
    cluster = await openClusterProxy(scene.cluster);
    instance = await scene.attach({ kubeconfig: cluster.adminKubeconfig });
  });

  afterAll(async () => {
    await cluster.stop();
    await scene.close();
  });

  const acts: readonly Act[] = [
    {
      name: 'bind',
      isBoundBefore: false,
      run: (ids) => scene.platform.bind(ids),
      answers: [201, 422, 503],
    },
    {
      name: 'unbind',
      isBoundBefore: true,
      run: (ids) => scene.platform.unbind(ids),
      answers: [200, 503],
    },
  ];

  describe.each(acts)('$name', (act) => {
    it.each(FAULTS)(
      'when the connection is %s',
      async (fault) => {
        const points = await writesOf(act);
        expect(points.length).toBeGreaterThan(1);
        for (const point of points) await atPoint(act, point, fault);
      },
      ACT_LIMIT_MS,
    );
  });

  async function writesOf(act: Act): Promise<readonly CrashPoint[]> {
    const ids = { instance, binding: newId('watched') };
    if (act.isBoundBefore) await scene.platform.bind(ids);
    const points = await watchAct({ statements, cluster, isPass: false }, () => act.run(ids));
    await scene.platform.unbind(ids);
    return points.filter(({ step }) => step.startsWith('ledger: '));
  }

  async function atPoint(act: Act, point: CrashPoint, fault: Fault): Promise<void> {
    const ids = { instance, binding: newId('faulty') };
    const what = `${act.name}, ${fault}: ${point.step} (${point.occurrence})`;
    if (act.isBoundBefore) await scene.platform.bind(ids);
    let met = 0;
    statements.watch(
      watcherOf(fault, point, () => {
        met += 1;
      }),
    );
    const answer = await act.run(ids);
    statements.watch(undefined);
    expect(met, `${what}: was met`).toBe(1);
    expect(act.answers, what).toContain(answer.status);

    const witnesses = { ledger, eyes: scene.eyes, platform: scene.platform };
    // Durable, and the same for whoever asks again: nothing else may become of what was handed out.
    const fetched = answer.status === 201 ? await scene.platform.getBinding(ids) : undefined;
    expect(fetched?.body ?? answer.body, what).toMatchObject(answer.body);
    await leaseEnds(witnesses.ledger);
    await bringForward(witnesses);
    await settled(witnesses, what);
    const wasLive = await expectAllRight(witnesses, ids, what);
    // What was told is what is: handed out and alive, or told as deleted and dead; after a failure it may be either.
    const isTold = answer.status < 300;
    expect(isTold ? wasLive : act.name === 'bind', `${what}: what was told is so`).toBe(
      act.name === 'bind',
    );
  }

  /** As time would: who wrote them is done with them, and lives. */
  async function leaseEnds(eyes: LedgerEyes): Promise<void> {
    await eyes.sql(
      `update grants set issuing_until = now() where ended_at is null and expires_at is null`,
    );
  }
});

function watcherOf(fault: Fault, point: CrashPoint, onMet: () => void): Watcher {
  const counter = new StepCounter();
  const meets = (statement: Parameters<NonNullable<Watcher['before']>>[0]): boolean => {
    const isMet = counter.reaches(point, stepOfStatement(statement, false));
    if (isMet) onMet();
    return isMet;
  };
  switch (fault) {
    case 'cut before':
      return { before: (statement) => (meets(statement) ? 'cut' : 'pass') };
    case 'cut after':
      return { after: (statement) => (meets(statement) ? 'cut' : 'pass') };
    case 'refused as a serialization failure':
      return { before: (statement) => (meets(statement) ? 'refuse' : 'pass') };
  }
}
