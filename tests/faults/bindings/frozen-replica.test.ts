// A replica that is frozen in the middle of an issue and thaws when its time is over for the others: by then its grant is
// another's to end and its binding another's to keep. It finds itself fenced, and removes what it still made.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';
import { type ClusterProxy, type FaultAct, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeWith } from '../../support/needs.ts';
import { type GuardedFolder, openGuardedFolder } from '../../support/real-parts/guarded-folder.ts';
import { until } from '../../support/until.ts';
import { type OpenedBroker, openBrokerProcess } from '../process/opened-broker.ts';

/** Two freezes of which each outlasts a lease, beside each other, and the start of two processes. */
vi.setConfig({ testTimeout: 120_000 });

/** Of an issue: a create limit of one second, and fifteen for the undo, clocks and a commit on its way. */
const LEASE_MS = 16_000;

const CALLS = {
  'the account': /^POST .*\/serviceaccounts$/,
  'the token': /^POST .*\/token$/,
  'the role binding': /^POST .*\/clusterrolebindings$/,
} as const;

const MOMENTS = [
  ['the account', 'before it arrives', { kind: 'hold' }],
  ['the role binding', 'before it arrives', { kind: 'hold' }],
  ['the token', 'after it arrived', { kind: 'hold-answer' }],
] as const satisfies readonly (readonly [keyof typeof CALLS, string, FaultAct])[];

describeWith({ postgres: true, cluster: true }, 'a replica that is frozen in mid-bind', () => {
  let scene: Scene;
  const proxies: ClusterProxy[] = [];
  let folder: GuardedFolder;

  beforeAll(async () => {
    scene = await openScene();
    folder = openGuardedFolder('frozen');
    writeFileSync(join(folder.path, 'config.yaml'), 'createTimeoutSeconds: 1\n');
  });

  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await scene.close();
    folder.remove();
  });

  /** A replica in a process of its own, with the create limit of one second or the usual fifteen. */
  async function openReplica({ isHasty }: { readonly isHasty: boolean }): Promise<OpenedBroker> {
    const env = isHasty
      ? { ...scene.env, RUNTIME_BROKER_CONFIG: join(folder.path, 'config.yaml') }
      : scene.env;
    const replica = await openBrokerProcess({ databaseUrl: scene.databaseUrl, env });
    await replica.untilReady();
    return replica;
  }

  interface Frozen {
    readonly replica: OpenedBroker;
    readonly ids: { readonly instance: string; readonly binding: string };
    /** What the frozen one answers in the end. */
    readonly binding: Promise<{ readonly status: number; readonly body: unknown }>;
    /** Lets its call go on, whose caller does not know it yet. */
    release(): void;
  }

  async function freezeInBind(
    replica: OpenedBroker,
    { on, act }: { readonly on: RegExp; readonly act: FaultAct },
  ): Promise<Frozen> {
    const proxy = await openClusterProxy(scene.cluster);
    proxies.push(proxy);
    const instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
    const ids = { instance, binding: newId('frozen') };
    // So that its client is open, and the call that is held is the first one that matters.
    const before = { instance, binding: newId('before') };
    await until({
      what: 'the replica binds',
      limitMs: 20_000,
      isSo: async () => (await replica.platform.bind(before)).status === 201,
    });
    await scene.platform.unbind(before);
    const held = proxy.misbehave({ on, act, times: 1 });
    const binding = replica.platform.bind(ids);
    await until({ what: 'the issue is held', limitMs: 10_000, isSo: () => held.seen() === 1 });
    replica.run.child.kill('SIGSTOP');
    return { replica, ids, binding, release: () => held.end() };
  }

  /** The second credential works, and nothing is left of the first attempt. */
  async function expectTheSecondAlone({ ids }: Pick<Frozen, 'ids'>, token: string): Promise<void> {
    expect(await scene.eyes.statusWith(token)).toBe(200);
    const objects = await scene.objects(ids.binding);
    expect(objects).toHaveLength(3);
    expect(new Set(objects.map(({ metadata }) => metadata.name)).size).toBe(1);
    const grants = await scene.ledger.sql<{ name: string; ended_at: Date | null }>(
      'select name, ended_at from grants where binding_id = $1 order by intended_at',
      [ids.binding],
    );
    expect(grants.map(({ ended_at }) => ended_at === null)).toEqual([false, true]);
    expect(objects[0]?.metadata.name).toBe(grants[1]?.name);
    const fetched = await scene.platform.getBinding(ids);
    expect(fetched.body.credentials.token).toBe(token);
  }

  it.concurrent.each(MOMENTS)(
    'while %s is held %s, until others take it for dead: the second takes over, the thawed one undoes',
    async (call, _, act) => {
      const replica = await openReplica({ isHasty: false });
      const frozen = await freezeInBind(replica, { on: CALLS[call], act });
      try {
        const second = await scene.platform.bind(frozen.ids);
        expect(second.status).toBe(201);

        frozen.release();
        replica.run.child.kill('SIGCONT');

        expect(await frozen.binding).toMatchObject({
          status: 422,
          body: { error: 'ConcurrencyError' },
        });
        await expectTheSecondAlone(frozen, second.body.credentials.token);
      } finally {
        replica.run.child.kill('SIGCONT');
        await replica.end('SIGTERM');
      }
      const events = replica.log().filter(({ bindingId }) => bindingId === frozen.ids.binding);
      expect(events.map(({ event }) => event)).not.toContain('binding-issued');
    },
  );

  it.concurrent('for longer than its lease: the thawed one, whose own limit is over, undoes', async () => {
    const replica = await openReplica({ isHasty: true });
    const frozen = await freezeInBind(replica, {
      on: CALLS['the role binding'],
      act: { kind: 'hold' },
    });
    try {
      const frozenAt = performance.now();
      const second = await scene.platform.bind(frozen.ids);
      expect(second.status).toBe(201);
      await until({
        what: 'the lease is over',
        limitMs: 2 * LEASE_MS,
        isSo: () => performance.now() - frozenAt > LEASE_MS,
      });
      frozen.release();
      await until({
        what: 'the late call has made its object',
        limitMs: 10_000,
        isSo: async () => (await scene.objects(frozen.ids.binding)).length > 3,
      });
      replica.run.child.kill('SIGCONT');

      // Whichever of its own limits it finds passed first: that of the issue, or that of the answer.
      expect((await frozen.binding).status).toBeOneOf([422, 503]);
      await until({
        what: 'the thawed one has undone what it made',
        limitMs: 10_000,
        isSo: async () => (await scene.objects(frozen.ids.binding)).length === 3,
      });
      await expectTheSecondAlone(frozen, second.body.credentials.token);
    } finally {
      replica.run.child.kill('SIGCONT');
      await replica.end('SIGTERM');
    }
  });
});
