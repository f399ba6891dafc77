// Clusters of plan `sandbox`, and a broker that is killed: what was answered is still so after the next start, what was
// under way goes on. And what is said when they cannot be served.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BrokerProcess, runMain, startEmbeddedProcess } from '../../support/broker-process.ts';
import { embeddedSettings } from '../../support/broker-settings.ts';
import { type FreshDataFolder, freshDataFolder } from '../../support/database.ts';
import { recordSecret } from '../../support/leak-record.ts';
import { type Platform, SANDBOX_PLAN_ID } from '../../support/platform.ts';
import { rawClient } from '../../support/raw-requests.ts';
import { until } from '../../support/until.ts';

/** A step's lease of a killed process is free at the next start; the rest is for a busy machine. */
const READY_LIMIT_MS = 60_000;

/** Each test starts a process with a database inside, which a busy machine may need ten seconds for. */
const TEST_LIMIT_MS = 120_000;

const MAPS = '/api/v1/namespaces/default/configmaps';

/** A question that needs an administrator's rights. */
const SECRETS = '/api/v1/namespaces/kube-system/secrets?limit=1';

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

function clustersIn(folder: FreshDataFolder): string {
  return join(folder.path, 'sandbox', 'clusters');
}

async function untilReady(platform: Platform, instance: string): Promise<void> {
  await until({
    what: 'the operation has succeeded',
    limitMs: READY_LIMIT_MS,
    isSo: async () => (await platform.lastOperation({ instance })).body['state'] === 'succeeded',
  });
}

async function made(platform: Platform): Promise<string> {
  const instance = randomUUID();
  expect((await platform.create({ instance })).status).toBe(202);
  await untilReady(platform, instance);
  return instance;
}

describe('sandbox clusters of a broker that is killed', { timeout: TEST_LIMIT_MS }, () => {
  let folder: FreshDataFolder;
  let broker: BrokerProcess;
  let platform: Platform;

  beforeAll(async () => {
    folder = freshDataFolder();
    await start();
  });
  afterAll(async () => {
    await broker.end('SIGTERM');
    folder.remove();
  });

  async function start(): Promise<void> {
    broker = await startEmbeddedProcess(folder.path);
    platform = broker.platform.forPlan(SANDBOX_PLAN_ID);
  }

  async function killAndStart(): Promise<void> {
    await broker.end('SIGKILL');
    await start();
  }

  it('are there again with what was in them, and the kubeconfigs of live bindings work', async () => {
    const ids = { instance: await made(platform), binding: randomUUID() };
    const revoked = { ...ids, binding: randomUUID() };
    const [bound, other] = [await platform.bind(ids), await platform.bind(revoked)];
    expect([bound.status, other.status]).toEqual([201, 201]);
    expect((await platform.unbind(revoked)).status).toBe(200);
    const client = rawClient(bound.body.credentials.kubeconfig);
    const map = { metadata: { name: 'mine' } };
    expect(await client({ method: 'POST', path: MAPS, body: map })).toMatchObject({ status: 201 });

    await killAndStart();

    expect(await client({ method: 'GET', path: `${MAPS}/mine` })).toMatchObject({ status: 200 });
    expect(await client({ method: 'GET', path: SECRETS })).toMatchObject({ status: 200 });
    // What was revoked before is refused still.
    const { token } = other.body.credentials;
    expect([401, 403]).toContain((await client({ method: 'GET', path: SECRETS, token })).status);
    const fetched = await platform.getBinding(ids);
    expect(fetched.status).toBe(200);
    expect(fetched.body.credentials).toEqual(bound.body.credentials);
    expect((await platform.unbind(ids)).status).toBe(200);
    expect([401, 403]).toContain((await client({ method: 'GET', path: SECRETS })).status);
  });

  it('are made by the next start where a provisioning was under way', async () => {
    const before = readdirSync(clustersIn(folder));
    const instances = Array.from({ length: 3 }, () => randomUUID());
    for (const instance of instances) {
      expect((await platform.create({ instance })).status).toBe(202);
    }

    await killAndStart();

    for (const instance of instances) {
      await untilReady(platform, instance);
      expect((await platform.bind({ instance, binding: randomUUID() })).status).toBe(201);
    }
    expect(readdirSync(clustersIn(folder))).toHaveLength(before.length + instances.length);
  });

  it('are removed by the next start where a deprovisioning was under way', async () => {
    const before = readdirSync(clustersIn(folder));
    const instances = [await made(platform), await made(platform)];
    for (const instance of instances) {
      expect((await platform.deprovision({ instance })).status).toBe(202);
    }

    await killAndStart();

    for (const instance of instances) await untilReady(platform, instance);
    expect(readdirSync(clustersIn(folder))).toEqual(before);
  });

  it('lie in files for the owner alone', async () => {
    await made(platform);
    const clusters = clustersIn(folder);
    const files = readdirSync(clusters).map((file) => join(clusters, file));
    expect([join(clusters, '..'), clusters].map(modeOf)).toEqual(['700', '700']);
    expect(new Set([join(clusters, '..', 'identity.json'), ...files].map(modeOf))).toEqual(
      new Set(['600']),
    );
  });
});

describe('sandbox clusters that cannot be served', { timeout: TEST_LIMIT_MS }, () => {
  let folder: FreshDataFolder;

  beforeAll(async () => {
    folder = freshDataFolder();
    const broker = await startEmbeddedProcess(folder.path);
    await made(broker.platform.forPlan(SANDBOX_PLAN_ID));
    // The database is then mended by the next start, which must end all the same.
    await broker.end('SIGKILL');
  });
  afterAll(() => folder.remove());

  async function refusal(): Promise<string> {
    const run = runMain([], embeddedSettings(folder.path));
    expect(await run.ended()).toBe(1);
    return run.output();
  }

  it('end the start with status 1 where another process has their port', async () => {
    const server = await occupyPortOf(folder);
    expect(await refusal()).toMatch(
      /port \d+, which the sandbox clusters in [^"]+ are known by, is in use by another process/,
    );
    server.close();
  });

  it('end the start with status 1 where their files are damaged, and quote nothing of them', async () => {
    const [file = ''] = readdirSync(clustersIn(folder));
    appendFileSync(join(clustersIn(folder), file), '{"half of a secret\n');
    const told = await refusal();
    expect(told).toContain(`${file} is damaged`);
    expect(told).not.toContain('half of a');
  });
});

/** Listens where the sandbox of this folder did. */
async function occupyPortOf(folder: FreshDataFolder): Promise<Server> {
  const text = readFileSync(join(folder.path, 'sandbox', 'identity.json'), 'utf8');
  const identity = JSON.parse(text) as { port: number; authority: { keyPem: string } };
  recordSecret('key of a sandbox authority', identity.authority.keyPem);
  const server = createServer();
  server.listen(identity.port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
