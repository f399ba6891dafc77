// `rotate-keys`: everything that is sealed comes under the current key while fetches go on, a run that is killed is
// finished by the next one, and afterwards the old key can go (docs/configuration.md, "Environment variables").
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { type SealingKey, Sealer } from '../../../src/storage/sealing.ts';
import { newId, untilOperationEnds } from '../../integration/bindings/scene.ts';
import { drawSealingKeys } from '../../integration/instances/attached-cluster.ts';
import { type MainRun, runMain } from '../../support/broker-process.ts';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { brokerSettings } from '../../support/broker-settings.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { type LedgerEyes, openLedgerEyes } from '../../support/ledger-dump.ts';
import { describeWith } from '../../support/needs.ts';
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

/** Processes start in a second or two each, a busy machine takes many times that. */
const TEST_LIMIT_MS = 120_000;

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

interface Report {
  readonly resealed: Readonly<Record<'tokens' | 'accesses' | 'markKeys', number>>;
  readonly current: number;
  readonly unopenable: number;
}

/** Under another id, so that both can be configured. */
function renamed(keys: string, id: string): string {
  return keys.replace(/^[^:]+/, id);
}

describeWith({ postgres: true }, 'rotate-keys', () => {
  const oldKey = renamed(drawSealingKeys(), 'old');
  const newKey = renamed(drawSealingKeys(), 'new');
  const ids = { instance: newId('i'), binding: newId('b') };
  let database: FreshDatabase;
  let ledger: LedgerEyes;
  let sandbox: TestSandbox;

  beforeAll(async () => {
    database = await freshDatabase();
    ledger = openLedgerEyes(database.url);
    sandbox = await startTestSandbox();
    const broker = await open(oldKey);
    const { adminKubeconfig } = sandbox.openCluster('rotated');
    await broker.platform.provision(ids, adminKubeconfig);
    await untilOperationEnds(broker.platform, ids, 'succeeded');
    await broker.platform.bind(ids);
    await broker.stop();
  });
  afterAll(async () => {
    await ledger.close();
    await sandbox.stop();
    await database.drop();
  });

  function open(keys: string): Promise<TestBroker> {
    const env = { RUNTIME_BROKER_SEALING_KEYS: keys };
    return startBroker({ databaseUrl: database.url, env, reconciles: false });
  }

  function rotate(keys: string): MainRun {
    const changes = { RUNTIME_BROKER_SEALING_KEYS: keys, RUNTIME_BROKER_LOG_LEVEL: 'warn' };
    return runMain(['rotate-keys'], brokerSettings(database.url, changes).env);
  }

  function reportOf(run: MainRun): Report {
    return JSON.parse(run.lines().at(-1) ?? '') as Report;
  }

  async function sealedUnder(id: string): Promise<number> {
    const [row] = await ledger.sql<{ count: number }>(
      `select count(*)::int as count from (
        select sealed_token as sealed from grants union all select sealed_access from instances
        union all select sealed_mark_key from installation
      ) s where sealed like $1`,
      [`v1.${id}.%`],
    );
    return row?.count ?? 0;
  }

  it('KEB defect 42: goes on beside a broker that serves, and no fetch fails', async () => {
    const broker = await open(`${newKey},${oldKey}`);
    const first = await broker.platform.getBinding(ids);
    expect(first.status).toBe(200);
    const run = rotate(`${newKey},${oldKey}`);
    const end = { isOver: false };
    void run.ended().then(() => (end.isOver = true));
    const tokens = new Set([first.body.credentials.token]);
    let fetches = 0;
    // Until it is over, and not less than 200.
    while (!end.isOver || fetches < 200) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => broker.platform.getBinding(ids)),
      );
      fetches += answers.length;
      for (const { status, body } of answers) {
        expect(status).toBe(200);
        tokens.add(body.credentials.token);
      }
    }

    expect(await run.ended()).toBe(0);
    expect(reportOf(run)).toEqual({
      resealed: { tokens: 1, accesses: 1, markKeys: 1 },
      current: 0,
      unopenable: 0,
    });
    expect(tokens.size).toBe(1);
    expect([await sealedUnder('old'), await sealedUnder('new')]).toEqual([0, 3]);
    await broker.stop();
  });

  it('KEB defect 42: lets the old key go: what is live opens, can be revoked, and more can be bound', async () => {
    const broker = await open(newKey);
    expect((await broker.platform.getBinding(ids)).status).toBe(200);
    expect((await broker.platform.bind({ ...ids, binding: newId('more') })).status).toBe(201);
    expect((await broker.platform.unbind(ids)).status).toBe(200);
    await broker.stop();
  });

  it('is finished by a second run where the first one was killed', async () => {
    const total = await fillWithTokens(2_000, newKey);
    const keys = `${renamed(drawSealingKeys(), 'newest')},${newKey}`;
    const killed = rotate(keys);
    await until({
      what: 'some are sealed anew',
      limitMs: 60_000,
      isSo: async () => (await sealedUnder('newest')) > 20,
    });
    killed.child.kill('SIGKILL');
    await killed.ended();
    expect(await sealedUnder('new')).toBeGreaterThan(0);

    const second = rotate(keys);

    expect(await second.ended()).toBe(0);
    const { resealed, current, unopenable } = reportOf(second);
    expect(unopenable).toBe(0);
    expect(current).toBeGreaterThan(20);
    expect(resealed.tokens + resealed.accesses + resealed.markKeys + current).toBe(total);
    expect([await sealedUnder('new'), await sealedUnder('newest')]).toEqual([0, total]);
    const third = rotate(keys);
    expect(await third.ended()).toBe(0);
    expect(reportOf(third)).toMatchObject({ current: total, unopenable: 0 });
  });

  it('names what no key opens, and seals the rest anew', async () => {
    const keys = renamed(drawSealingKeys(), 'last');
    const run = rotate(keys);

    expect(await run.ended()).toBe(1);

    const { unopenable, resealed } = reportOf(run);
    expect(resealed).toEqual({ tokens: 0, accesses: 0, markKeys: 0 });
    expect(unopenable).toBeGreaterThan(2_000);
    const [installation] = await ledger.sql<{ id: string }>('select id from installation');
    expect(run.output()).toContain(
      `installation.sealed_mark_key of ${installation?.id} does not open under any of the sealing keys.`,
    );
    expect(run.output().match(/grants\.sealed_token of [0-9a-f-]{36} does not open/g)).toHaveLength(
      98,
    );
  });

  /** Rows of grants as they are after an issue. @returns how many values are sealed then */
  async function fillWithTokens(count: number, key: string): Promise<number> {
    const sealer = new Sealer([keyOf(key)]);
    const rows = Array.from({ length: count }, () => randomUUID());
    const sealed = rows.map((row) =>
      sealer.seal(new Secret(`token-${row}`), { table: 'grants', column: 'sealed_token', row }),
    );
    await ledger.sql(
      `insert into grants (id, name, instance_key, binding_id, namespace, account_uid, role_uid,
        role_binding_uid, sealed_token, replica_id, intended_at, issuing_until, issued_at, expires_at, next_try_at)
      select n.id, 'filled-' || n.id, g.instance_key, g.binding_id, 'n', 'a', 'r', 'rb', n.sealed,
        g.replica_id, g.intended_at, g.issuing_until, g.issued_at, g.expires_at, g.expires_at
      from unnest($1::uuid[], $2::text[]) n(id, sealed),
        (select * from grants where ended_at is null limit 1) g`,
      [rows, sealed],
    );
    return await sealedUnder('new');
  }
});

function keyOf(setting: string): SealingKey {
  const [id = '', key = ''] = setting.split(':');
  return { id, key: new Secret(Buffer.from(key, 'base64')) };
}
