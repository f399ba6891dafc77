// Plan `sandbox` over HTTP, on the embedded default: a whole life of an instance whose cluster is inside the broker. What
// such a cluster answers in general is held against the real API server in tests/cluster and tests/integration/sandbox.
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestBroker, startBroker } from '../../support/broker.ts';
import { freshDatabase, type FreshDatabase, freshDatabaseOn } from '../../support/database.ts';
import { recordSecret } from '../../support/leak-record.ts';
import { aroundLedger, type LedgerEyes, ledgerEyesOf } from '../../support/ledger-dump.ts';
import { describeWith } from '../../support/needs.ts';
import {
  type BindingBody,
  type Ids,
  type Platform,
  SANDBOX_PLAN_ID,
} from '../../support/platform.ts';
import { rawClient } from '../../support/raw-requests.ts';
import { parseKubeconfig } from '../bindings/scene.ts';
import { operationEnded } from './waits.ts';

const NAMESPACES = '/api/v1/namespaces';
const MAPS = '/api/v1/namespaces/default/configmaps';
/** A question that needs an administrator's rights. */
const SECRETS = '/api/v1/namespaces/kube-system/secrets?limit=1';

interface Named {
  readonly metadata: { readonly name: string; readonly uid: string };
}

type Credentials = BindingBody['credentials'];

interface CatalogPlan {
  readonly id: string;
  readonly name: string;
}

async function plansOf(platform: Platform): Promise<readonly CatalogPlan[]> {
  const { body } = await platform.catalog();
  return (body as { services: readonly [{ plans: readonly CatalogPlan[] }] }).services[0].plans;
}

async function ask(kubeconfig: string, path: string): Promise<number> {
  return (await rawClient(kubeconfig)({ method: 'GET', path })).status;
}

/** Of the one cluster that a kubeconfig names; the last part of its path is the cluster's name. */
function clusterNameIn(server: string): string {
  return new URL(server).pathname.replace('/clusters/', '');
}

describe('the plan sandbox, on the embedded default', () => {
  let database: FreshDatabase;
  let broker: TestBroker;
  let platform: Platform;
  let ledger: LedgerEyes;
  let aheadMs = 0;

  beforeAll(async () => {
    database = await freshDatabaseOn('embedded');
    const clock = () => new Date(Date.now() + aheadMs);
    broker = await startBroker({ databaseUrl: '', env: database.env, given: { clock } });
    platform = broker.platform.forPlan(SANDBOX_PLAN_ID);
    ledger = ledgerEyesOf(broker.composition.broker);
  });
  afterAll(async () => {
    await broker.stop();
    await database.drop();
  });

  function clustersInFolder(): readonly string[] {
    const folder = join(database.env['RUNTIME_BROKER_DATA_DIR'] ?? '', 'sandbox', 'clusters');
    return readdirSync(folder).map((file) => file.replace('.jsonl', ''));
  }

  async function made(parameters: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const instance = randomUUID();
    expect((await platform.create({ instance }, parameters)).status).toBe(202);
    expect(await operationEnded(platform, { instance })).toBe('succeeded');
    return instance;
  }

  async function bound(instance: string): Promise<{ ids: Ids; credentials: Credentials }> {
    const ids = { instance, binding: randomUUID() };
    const { status, body } = await platform.bind(ids);
    expect(status).toBe(201);
    const access = broker.composition.sandbox?.accessTo(clusterNameIn(body.credentials.server));
    if (access?.credential.kind !== 'token') throw new Error('no token administers the cluster');
    recordSecret('token of a sandbox administrator', access.credential.token.reveal());
    return { ids, credentials: body.credentials };
  }

  it('is in the catalog: free, bindable, and with a name and a region as its parameters', async () => {
    const plans = await plansOf(platform);
    expect(plans.map(({ name }) => name)).toEqual(['own_cluster', 'sandbox']);
    expect(plans[1]).toMatchObject({
      id: '5e7b1c1a-7a55-4d0c-9d7e-2f0c8a5f9b11',
      free: true,
      bindable: true,
      schemas: {
        service_instance: {
          create: { parameters: { additionalProperties: false, properties: { name: {} } } },
        },
      },
    });
  });

  it('makes a cluster whose kubeconfig administers it until the binding is deleted', async () => {
    const { ids, credentials } = await bound(await made());
    const client = rawClient(credentials.kubeconfig);

    expect(new URL(credentials.server).hostname).toBe('127.0.0.1');
    const listed = JSON.parse((await client({ method: 'GET', path: NAMESPACES })).text) as {
      items: readonly Named[];
    };
    expect(listed.items.map(({ metadata }) => metadata.name)).toContain('kyma-system');
    const map = { metadata: { name: 'mine' }, data: { hello: 'world' } };
    expect(await client({ method: 'POST', path: MAPS, body: map })).toMatchObject({ status: 201 });
    const fetched = await platform.getBinding(ids);
    expect(fetched.body.credentials).toEqual(credentials);

    expect((await platform.unbind(ids)).status).toBe(200);

    expect([401, 403]).toContain(await ask(credentials.kubeconfig, SECRETS));
    expect((await platform.getBinding(ids)).status).toBe(404);
    expect((await platform.unbind(ids)).status).toBe(410);
  });

  it('gives each instance a cluster of its own', async () => {
    const [{ credentials: one }, { credentials: other }] = [
      await bound(await made()),
      await bound(await made()),
    ];
    await rawClient(one.kubeconfig)({
      method: 'POST',
      path: MAPS,
      body: { metadata: { name: 'of-one' } },
    });

    expect(one.server).not.toBe(other.server);
    expect(await ask(one.kubeconfig, `${MAPS}/of-one`)).toBe(200);
    expect(await ask(other.kubeconfig, `${MAPS}/of-one`)).toBe(404);
    const uidIn = async ({ kubeconfig }: Credentials) => {
      const path = `${NAMESPACES}/kube-system`;
      const { text } = await rawClient(kubeconfig)({ method: 'GET', path });
      return (JSON.parse(text) as Named).metadata.uid;
    };
    expect(await uidIn(one)).not.toBe(await uidIn(other));
    const crossed = { method: 'GET', path: MAPS, token: one.token };
    expect(await rawClient(other.kubeconfig)(crossed)).toMatchObject({ status: 401 });
  });

  it('names the cluster after nothing that a platform has given', async () => {
    const instance = await made();
    const { credentials } = await bound(instance);
    expect(credentials.server).not.toContain(instance);
    expect(clustersInFolder()).toContain(clusterNameIn(credentials.server));
  });

  it.each([
    ['the instance', { name: 'play' }, 'play'],
    ['a default', {}, 'runtime'],
  ])('names what is in a kubeconfig after %s', async (_, parameters, name) => {
    const { credentials } = await bound(await made({ ...parameters, region: 'here' }));
    const content = parseKubeconfig(credentials.kubeconfig);
    expect(content['current-context']).toBe(name);
    for (const list of [content.clusters, content.contexts, content.users]) {
      expect(list.map((entry) => entry.name)).toEqual([name]);
    }
  });

  it.each([
    ['a kubeconfig', { kubeconfig: 'apiVersion: v1' }, 'parameters.kubeconfig is not known'],
    ['a parameter that nobody knows', { size: 3 }, 'parameters.size is not known'],
    ['a name that is none', { name: 'a.b' }, 'parameters.name must match'],
  ])('refuses %s, and changes nothing', async (_, parameters, words) => {
    const instance = randomUUID();
    const clusters = clustersInFolder();
    const { answer, before, after } = await aroundLedger(ledger, () =>
      platform.create({ instance }, parameters),
    );
    expect(answer.status).toBe(400);
    expect(answer.body['description']).toContain(words);
    expect(after).toEqual(before);
    expect(clustersInFolder()).toEqual(clusters);
  });

  it('answers the repeat of a request, and refuses another one for the same id', async () => {
    const instance = await made({ name: 'play' });
    expect((await platform.create({ instance }, { name: 'play' })).status).toBe(200);
    expect((await platform.create({ instance }, { name: 'other' })).status).toBe(409);
    expect((await platform.getInstance({ instance })).body).toMatchObject({
      plan_id: SANDBOX_PLAN_ID,
      parameters: { name: 'play' },
    });
  });

  it('removes the cluster with the instance, while bindings of it live', async () => {
    const instance = await made();
    const { ids, credentials } = await bound(instance);
    const cluster = clusterNameIn(credentials.server);
    expect(await ask(credentials.kubeconfig, NAMESPACES)).toBe(200);

    expect((await platform.deprovision({ instance })).status).toBe(202);
    expect(await operationEnded(platform, { instance })).toBe('succeeded');

    expect(await ask(credentials.kubeconfig, NAMESPACES)).toBe(404);
    expect(clustersInFolder()).not.toContain(cluster);
    expect((await platform.getBinding(ids)).status).toBe(404);
    expect((await platform.deprovision({ instance })).status).toBe(410);
    const unfinished = await ledger.sql(
      `select g.id from grants g join instances i on i.key = g.instance_key
        where i.id = $1 and g.ended_at is null`,
      [instance],
    );
    expect(unfinished).toEqual([]);
  });

  it('gives the same id another cluster once it is made anew', async () => {
    const instance = await made();
    const before = await bound(instance);
    await platform.deprovision({ instance });
    expect(await operationEnded(platform, { instance })).toBe('succeeded');
    expect((await platform.create({ instance })).status).toBe(202);
    expect(await operationEnded(platform, { instance })).toBe('succeeded');

    const after = await bound(instance);

    expect(after.credentials.server).not.toBe(before.credentials.server);
    const old = { method: 'GET', path: MAPS, token: before.credentials.token };
    expect(await rawClient(after.credentials.kubeconfig)(old)).toMatchObject({ status: 401 });
  });

  it('leaves no cluster of an instance that is deleted while it is made', async () => {
    const clusters = clustersInFolder();
    const instances = Array.from({ length: 5 }, () => ({ instance: randomUUID() }));
    for (const ids of instances) {
      expect((await platform.create(ids)).status).toBe(202);
      expect((await platform.deprovision(ids)).status).toBe(202);
    }
    for (const ids of instances) expect(await operationEnded(platform, ids)).toBe('succeeded');
    expect(clustersInFolder()).toEqual(clusters);
  });

  it('does not make its server a cluster that can be attached', async () => {
    const { credentials } = await bound(await made());
    const attaching = { instance: randomUUID() };
    const refused = await broker.platform.provision(attaching, credentials.kubeconfig);
    expect(refused.status).toBe(400);
    expect(refused.body['description']).toContain('it belongs to the broker itself');
  });

  it('of a cluster that is gone issues nothing, and ends what was issued there: absence is known', async () => {
    const instance = await made();
    const { ids, credentials } = await bound(instance);
    broker.composition.sandbox?.removeCluster(clusterNameIn(credentials.server));

    const another = { instance, binding: randomUUID() };
    expect((await platform.bind(another)).status).toBe(502);
    expect((await platform.getBinding(another)).status).toBe(404);
    expect((await platform.unbind(ids)).status).toBe(200);
    expect((await platform.unbind(ids)).status).toBe(410);
  });

  it('refuses a token once its time is over, by the clock of the broker', async () => {
    const { credentials } = await bound(await made());
    expect(await ask(credentials.kubeconfig, NAMESPACES)).toBe(200);
    aheadMs = 601_000;
    expect(await ask(credentials.kubeconfig, NAMESPACES)).toBe(401);
  });
});

describeWith({ postgres: true }, 'the plan sandbox, on PostgreSQL', () => {
  it('is not offered, and nothing of it runs', async () => {
    const [database, folder] = [await freshDatabase(), await freshDatabaseOn('embedded')];
    const broker = await startBroker({ databaseUrl: database.url, env: folder.env });
    const platform = broker.platform.forPlan(SANDBOX_PLAN_ID);

    expect((await plansOf(platform)).map(({ name }) => name)).toEqual(['own_cluster']);
    const { status, body } = await platform.create({ instance: randomUUID() });

    expect(status).toBe(400);
    expect(body['description']).toContain('plan_id must name');
    expect(broker.composition.sandbox).toBeUndefined();
    expect(existsSync(join(folder.env['RUNTIME_BROKER_DATA_DIR'] ?? '', 'sandbox'))).toBe(false);
    await broker.stop();
    await Promise.all([database.drop(), folder.drop()]);
  });
});
