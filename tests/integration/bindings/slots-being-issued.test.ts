// The limit while nothing that counts has a credential yet: the eleventh is told a time all the same, the expiry that
// the first of the ten asked for (docs/api.md, "Bind"; src/domain/slots.ts says why that one).
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { toWireTime } from '../../../src/domain/wire-time.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';
import { refusal } from './refusals.ts';
import { newId, openScene, type Scene } from './scene.ts';

const LIMIT_REACHED = 'maximum number of non expired bindings reached: 10; next slot frees at ';

/** Ten requests reach the cluster within a second; the limit is for a machine that is busy with other tests. */
const ALL_HELD_LIMIT_MS = 10_000;

describeOnEngines('ten bindings that are being issued', {}, (engine) => {
  let sandbox: TestSandbox;
  let scene: Scene;
  let proxy: ClusterProxy;
  let instance: string;

  beforeAll(async () => {
    sandbox = await startTestSandbox();
    const cluster = sandbox.openCluster('held');
    scene = await openScene({ engine, cluster, reconciles: false });
    proxy = await openClusterProxy(cluster);
  });

  afterEach(() => proxy.behave());

  afterAll(async () => {
    await proxy.stop();
    await scene.close();
    await sandbox.stop();
  });

  /** In parallel, one for each lifetime; returns once the cluster holds them all. */
  async function issueHeld(lifetimes: readonly (number | undefined)[]) {
    instance = await scene.attach({ instance: newId('i'), kubeconfig: proxy.adminKubeconfig });
    const held = proxy.misbehave({ on: /^POST .*\/serviceaccounts$/, act: { kind: 'hold' } });
    const bound = lifetimes.map((seconds, at) =>
      scene.platform.bind(
        { instance, binding: `b-${at}` },
        seconds === undefined ? {} : { expiration_seconds: seconds },
      ),
    );
    const isSo = () => held.seen() === lifetimes.length;
    await until({ what: 'the cluster holds all of them', limitMs: ALL_HELD_LIMIT_MS, isSo });
    return { release: () => held.end(), answered: Promise.all(bound) };
  }

  async function told(): Promise<unknown> {
    const ids = { instance, binding: 'eleventh' };
    const answer = await refusal(scene, () => scene.platform.bind(ids));
    expect(answer.status).toBe(400);
    return answer.body['description'];
  }

  /** The earliest end by what was asked, counted from the announcement. */
  async function earliestAsked(defaultSeconds: number): Promise<string> {
    const [row] = await scene.ledger.sql<{ at: Date }>(
      `select min(g.intended_at + make_interval(secs => coalesce(b.expiration_seconds, $2::integer))) as at
      from grants g join bindings b on b.current_grant = g.id join instances i on i.key = g.instance_key
      where i.id = $1`,
      [instance, defaultSeconds],
    );
    return toWireTime(row?.at ?? new Date(0));
  }

  it.each([
    ['each for a lifetime of its own', [1000, 900, 800, 1000, 1000, 1000, 1000, 1000, 1000, 1000]],
    ['for the default', Array.from({ length: 10 }, () => undefined)],
    [
      'some for the default, some for more',
      [900, 900, undefined, 900, 700, 700, undefined, 700, 700, 700],
    ],
  ])(
    '%s: the eleventh is told when the first would end, then when it does',
    async (_, lifetimes) => {
      const { release, answered } = await issueHeld(lifetimes);

      const asked = await earliestAsked(600);
      expect(await told()).toBe(LIMIT_REACHED + asked);

      release();
      const bound = await answered;
      expect(bound.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
      const ends = bound.map(({ body }) => body.metadata.expires_at).toSorted();
      expect(await told()).toBe(LIMIT_REACHED + ends[0]);
      // A cluster counts in whole seconds, and from when it makes the token.
      const lateMs = Date.parse(ends[0] ?? '') - Date.parse(asked);
      expect(lateMs).toBeGreaterThan(-2000);
      expect(lateMs).toBeLessThan(15_000);
    },
  );
});
