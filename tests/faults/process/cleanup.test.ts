// `cleanup` and `confirm-restore` as a shell sees them, on PostgreSQL: what they do to the ledger and to clusters beside
// brokers that run, what they print, and with which status they end (docs/configuration.md, "Commands").
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type MainRun, runMain } from '../../support/broker-process.ts';
import { brokerSettings } from '../../support/broker-settings.ts';
import { startBroker } from '../../support/broker.ts';
import { freshDatabase } from '../../support/database.ts';
import { aroundLedger } from '../../support/ledger-dump.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';
import { plantGrant } from '../../support/orphan-sweep.ts';
import { ClusterClient } from '../../../src/kubernetes/cluster-client.ts';
import { readKubeconfig } from '../../../src/kubernetes/read-kubeconfig.ts';
import {
  type BoundInstance,
  openOperated,
  type Operated,
} from '../../integration/operator/operated.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Processes start in a second or two each, a busy machine takes many times that. */
const TEST_LIMIT_MS = 120_000;

interface Report {
  readonly expired: number;
  readonly revoked: number;
  readonly orphans: number;
  readonly failed: number;
  readonly dryRun: boolean;
}

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

describeWith({ postgres: true }, 'cleanup', () => {
  let operated: Operated;

  beforeAll(async () => {
    operated = await openOperated('postgres');
  });
  afterAll(() => operated.close());

  function run(...args: readonly string[]): MainRun {
    const { databaseUrl, env } = operated.scene;
    const settings = { ...env, RUNTIME_BROKER_LOG_LEVEL: 'warn' };
    return runMain(args, brokerSettings(databaseUrl, settings).env);
  }

  async function cleanup(...args: readonly string[]): Promise<[number | null, Report]> {
    const cleaning = run('cleanup', ...args);
    const status = await cleaning.ended();
    return [status, JSON.parse(cleaning.lines().at(-1) ?? '') as Report];
  }

  /** As if their time were over. */
  async function expire({ instance }: Pick<BoundInstance, 'instance'>): Promise<void> {
    await operated.scene.ledger.sql(
      `update grants g set expires_at = $2, next_try_at = $2 from instances i
      where i.key = g.instance_key and i.id = $1`,
      [instance, new Date(operated.scene.now().getTime() - 1000)],
    );
  }

  async function unfinished(): Promise<number> {
    return (await operated.scene.ledger.sql('select 1 from grants where ended_at is null')).length;
  }

  it('looks only, with --dry-run', async () => {
    await operated.stuck();
    await expire(await operated.bound(2));

    const { answer, before, after } = await aroundLedger(operated.scene.ledger, () =>
      cleanup('--dry-run', '--orphans'),
    );

    expect(answer).toEqual([0, { expired: 2, revoked: 3, orphans: 0, failed: 0, dryRun: true }]);
    expect(after).toEqual(before);
  });

  it('ends what has expired, and what waits for its next try', async () => {
    expect(await cleanup()).toEqual([
      0,
      { expired: 2, revoked: 3, orphans: 0, failed: 0, dryRun: false },
    ]);
    expect(await unfinished()).toBe(0);
    expect(await operated.scene.objects()).toEqual([]);
    expect(await cleanup()).toEqual([
      0,
      { expired: 0, revoked: 0, orphans: 0, failed: 0, dryRun: false },
    ]);
    // It has signed off, and left the broker that runs where it was.
    const { replicaId } = operated.scene.broker.composition.broker;
    expect(await operated.scene.ledger.sql('select id from replicas')).toEqual([{ id: replicaId }]);
  });

  it('KEB defect 35: ends with status 1 where a cluster is dead, and with 0 once it is back', async () => {
    const bound = await operated.bound(3);
    await expire(bound);
    await operated.proxy.takeDown();

    expect(await cleanup()).toEqual([
      1,
      { expired: 3, revoked: 0, orphans: 0, failed: 3, dryRun: false },
    ]);
    await operated.proxy.bringUp();
    expect(await cleanup()).toEqual([
      0,
      { expired: 0, revoked: 3, orphans: 0, failed: 0, dryRun: false },
    ]);
  });

  it('KEB defect 33: removes what has no row, with --orphans, once a suspected restore is confirmed', async () => {
    const { instance } = await operated.bound(0);
    const { broker } = operated.scene.broker.composition;
    const client = new ClusterClient(readKubeconfig(operated.scene.cluster.adminKubeconfig));
    const ago = (ms: number) => new Date(operated.scene.now().getTime() - ms);
    await plantGrant(client, broker, { markedAt: ago(2 * DAY_MS) });
    await plantGrant(client, broker, { markedAt: ago(DAY_MS / 2) });
    await client.close();

    const held = run('cleanup', '--orphans');
    expect(await held.ended()).toBe(0);
    expect(JSON.parse(held.lines().at(-1) ?? '')).toMatchObject({ orphans: 0, failed: 0 });
    expect(held.output()).toContain('an older database seems to have been restored');
    expect(await operated.scene.objects()).toHaveLength(6);

    const confirming = run('confirm-restore', instance, '--reason', 'restored tonight');
    expect(await confirming.ended()).toBe(0);
    expect(confirming.lines()[0]).toMatch(/^Confirmed\./);
    expect(await operated.events(instance)).toEqual([
      {
        type: 'restore-confirmed',
        instance_id: instance,
        binding_id: null,
        actor: expect.stringMatching(/^command/) as string,
        reason: 'restored tonight',
      },
    ]);
    expect(await cleanup('--orphans')).toEqual([
      0,
      { expired: 0, revoked: 0, orphans: 2, failed: 0, dryRun: false },
    ]);
    expect(await operated.scene.objects()).toEqual([]);

    const again = run('confirm-restore', instance, '--reason', 'x');
    expect(await again.ended()).toBe(0);
    expect(again.lines()[0]).toMatch(/^Nothing to confirm/);
    const unknown = run('confirm-restore', 'nobody', '--reason', 'x');
    expect(await unknown.ended()).toBe(1);
    expect(unknown.output()).toContain('There is no service instance with this id.');
  });

  it('KEB defect 35: works beside two replicas that do the same', async () => {
    const bound = await Promise.all([operated.bound(8), operated.bound(8)]);
    await Promise.all(bound.map(expire));
    const { databaseUrl, env } = operated.scene;
    const open = () => startBroker({ databaseUrl, env });
    const replicas = await Promise.all([open(), open()]);

    const [status, { failed, revoked }] = await cleanup();

    expect([status, failed]).toEqual([0, 0]);
    expect(revoked).toBeLessThanOrEqual(16);
    await until({
      what: 'all have ended',
      limitMs: 30_000,
      isSo: async () => (await unfinished()) === 0,
    });
    expect(await operated.scene.objects()).toEqual([]);
    await Promise.all(replicas.map((replica) => replica.stop()));
  });
});

describeWith({ postgres: true }, 'a command on a database that is not there yet', () => {
  it('says so, and ends with status 1', async () => {
    const database = await freshDatabase();
    for (const command of ['cleanup', 'rotate-keys']) {
      const run = runMain([command], brokerSettings(database.url).env);
      expect(await run.ended()).toBe(1);
      expect(run.output()).toBe(
        'The schema of the database is not current. Run the command migrate, or start the broker, first.\n',
      );
    }
    const away = runMain(['cleanup'], brokerSettings('postgres://broker@127.0.0.1:1/none').env);
    expect(await away.ended()).toBe(1);
    expect(away.output()).toContain('ECONNREFUSED');
    await database.drop();
  });
});
