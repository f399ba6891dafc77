// The fault matrix of the cluster: each call of a bind and of an unbind fails in each way that an API server, or what
// stands before it, can fail. The answer is docs/api.md's, nothing is left behind that a sweep does not settle, and
// the repeat works. Which calls there are is found by watching, so that a new one joins by itself.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectErrorBody } from '../../integration/bindings/refusals.ts';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';
import { type ClusterProxy, type FaultAct, openClusterProxy } from '../../support/cluster-proxy.ts';
import { freshDatabase } from '../../support/database.ts';
import { describeWith } from '../../support/needs.ts';
import type { Ids, OsbAnswer } from '../../support/platform.ts';
import { type CrashPoint, StepCounter, stepOfCall, watchAct } from './crash-points.ts';
import { bringForward, expectAllRight, settled } from './ledger-and-cluster.ts';
import { type StatementProxy, startStatementProxy } from './statement-proxy.ts';

/** A hang takes as long as the limit of the request it is in, fifteen seconds for an unbind, and there are a dozen calls. */
const ROW_LIMIT_MS = 15 * 60 * 1000;

interface Fault {
  readonly how: string;
  readonly act: FaultAct;
  /** Of a bind (docs/api.md, "Bind"): 503 where a repeat may help, else 502. */
  readonly bind: number;
  readonly retryAfter?: string;
  /** A cluster that says 404 of an object says that it is gone, and is believed. */
  readonly saysGone?: true;
}

/** More than an answer about one object can have. */
const HUGE = JSON.stringify({ kind: 'Status', filler: 'x'.repeat(32 * 1024 * 1024) });

const json = { 'content-type': 'application/json' };

const FAULTS: readonly Fault[] = [
  { how: '401', act: { kind: 'answer', status: 401 }, bind: 502 },
  { how: '403', act: { kind: 'answer', status: 403 }, bind: 502 },
  { how: '404', act: { kind: 'answer', status: 404 }, bind: 502, saysGone: true },
  { how: '409', act: { kind: 'answer', status: 409 }, bind: 502 },
  { how: '422', act: { kind: 'answer', status: 422 }, bind: 502 },
  {
    how: '429 with Retry-After: 11',
    act: { kind: 'answer', status: 429, headers: { 'retry-after': '11' } },
    bind: 503,
    retryAfter: '11',
  },
  { how: '500', act: { kind: 'answer', status: 500 }, bind: 503 },
  { how: '503', act: { kind: 'answer', status: 503 }, bind: 503 },
  { how: 'a hang', act: { kind: 'hold' }, bind: 503 },
  { how: 'an answer that hangs', act: { kind: 'hold-answer' }, bind: 503 },
  { how: 'a body that never ends', act: { kind: 'slow-body' }, bind: 503 },
  { how: 'a cut before', act: { kind: 'cut' }, bind: 503 },
  { how: 'a cut after', act: { kind: 'cut-answer' }, bind: 503 },
  {
    how: 'a web page',
    act: { kind: 'answer', status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' },
    bind: 502,
  },
  {
    how: '404 with a web page',
    act: { kind: 'answer', status: 404, headers: { 'content-type': 'text/html' }, body: '<html>' },
    bind: 502,
  },
  {
    how: 'JSON that is none',
    act: { kind: 'answer', status: 200, headers: json, body: '{"kind":' },
    bind: 502,
  },
  {
    how: 'a huge body',
    act: { kind: 'answer', status: 200, headers: json, body: HUGE },
    bind: 502,
  },
];

/** What docs/api.md, "Bind" says of an answer, and whether a failure has the form of one. */
interface Told {
  readonly status: number;
  readonly retryAfter: string | null;
}

function toldBy(answer: OsbAnswer<object>): Told {
  if (answer.status >= 400) expectErrorBody(answer);
  return { status: answer.status, retryAfter: answer.headers.get('retry-after') };
}

interface Act {
  readonly name: 'bind' | 'unbind';
  readonly prepare: (ids: Ids) => Promise<void>;
  readonly run: (ids: Ids) => Promise<OsbAnswer<object>>;
  readonly answers: (fault: Fault) => readonly Told[];
}

const DEFAULT_RETRY_AFTER = '5';

describeWith({ postgres: true, cluster: true }, 'the fault matrix of the cluster', () => {
  let scene: Scene;
  let cluster: ClusterProxy;
  let statements: StatementProxy;
  let instance: string;

  beforeAll(async () => {
    const database = await freshDatabase();
    statements = await startStatementProxy(database.url);
    scene = await openScene({ database, configFile: 'createTimeoutSeconds: 2' });
    cluster = await openClusterProxy(scene.cluster);
    instance = await scene.attach({ kubeconfig: cluster.adminKubeconfig });
  });

  afterEach(() => cluster.behave());

  afterAll(async () => {
    await Promise.all([cluster.stop(), statements.stop()]);
    await scene.close();
  });

  const acts: readonly Act[] = [
    {
      name: 'bind',
      prepare: () => Promise.resolve(),
      run: (ids) => scene.platform.bind(ids),
      answers: ({ bind, retryAfter = DEFAULT_RETRY_AFTER }) => [
        { status: bind, retryAfter: bind === 503 ? retryAfter : null },
      ],
    },
    {
      name: 'unbind',
      prepare: async (ids) => {
        expect((await scene.platform.bind(ids)).status).toBe(201);
      },
      run: (ids) => scene.platform.unbind(ids),
      // Done all the same where the fault passes within the request, else said to be undone.
      answers: ({ retryAfter = DEFAULT_RETRY_AFTER }) => [
        { status: 200, retryAfter: null },
        { status: 503, retryAfter },
      ],
    },
  ];

  describe.each(acts)('each call of $name', (act) => {
    const faults = FAULTS.filter(({ saysGone }) => act.name === 'bind' || saysGone !== true);

    it.each(faults)(
      'is answered by $how',
      async (fault) => {
        const calls = await callsOf(act);
        expect(calls.length).toBeGreaterThan(3);
        for (const call of calls) await atCall(act, call, fault);
      },
      ROW_LIMIT_MS,
    );
  });

  async function callsOf(act: Act): Promise<readonly CrashPoint[]> {
    const ids = { instance, binding: newId('watched') };
    await act.prepare(ids);
    const points = await watchAct({ statements, cluster, isPass: false }, () => act.run(ids));
    await scene.platform.unbind(ids);
    // Asked only where a connection is new, so not in every run.
    return points.filter(({ step }) => !/ledger: |GET .*\/kube-system$/.test(step));
  }

  async function atCall(act: Act, call: CrashPoint, fault: Fault): Promise<void> {
    const ids = { instance, binding: newId('faulty') };
    const what = `${act.name}, ${fault.how}: ${call.step} (${call.occurrence})`;
    await act.prepare(ids);
    const counter = new StepCounter();
    const met = cluster.misbehave({
      on: { test: (line) => counter.reaches(call, stepOfCall(line)) },
      act: fault.act,
    });

    const answer = await act.run(ids);

    expect(met.seen(), `${what}: was met`).toBe(1);
    expect(act.answers(fault), what).toContainEqual(toldBy(answer));
    cluster.behave();
    await bringForward(scene);
    await settled(scene, what);
    const wasLive = await expectAllRight(scene, ids, what);
    expect(wasLive, `${what}: nothing lives`).toBe(false);
  }
});
