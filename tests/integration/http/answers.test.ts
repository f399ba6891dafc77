// What each endpoint says when it succeeds, and the refusals that need a ledger: status, headers and body as they are
// on the wire. The state matrix is the conformance suite's.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBroker, startBroker, type TestBroker } from '../../support/broker.ts';
import { sharedCluster } from '../../support/cluster.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { describeWith } from '../../support/needs.ts';
import {
  bindingPath,
  type BindingBody,
  type Ids,
  OWN_CLUSTER_PLAN_ID,
  type Platform,
  SERVICE_ID,
} from '../../support/platform.ts';
import { until } from '../../support/until.ts';

/** A local API server takes a second; the rest is for a busy machine. */
const READY_WITHIN_MS = 20_000;

const OFFER = { service_id: SERVICE_ID, plan_id: OWN_CLUSTER_PLAN_ID };

describeWith({ postgres: true, cluster: true }, 'answers of OSB', () => {
  let database: FreshDatabase;
  let broker: TestBroker;
  let platform: Platform;
  let kubeconfig: string;
  /** Ready, and shared by the tests. */
  const instance = randomUUID();

  beforeAll(async () => {
    kubeconfig = sharedCluster().adminKubeconfig;
    database = await freshDatabase();
    broker = await startBroker({ databaseUrl: database.url });
    platform = broker.platform;
    await platform.provision({ instance }, kubeconfig, { name: 'answers' });
    await becomesReady(instance);
  });

  afterAll(async () => {
    await broker.stop();
    await database.drop();
  });

  async function becomesReady(instance: string): Promise<void> {
    await until({
      what: 'the instance is ready',
      limitMs: READY_WITHIN_MS,
      isSo: async () => (await platform.lastOperation({ instance })).body['state'] === 'succeeded',
    });
  }

  it('are 202 with an operation for a provisioning, its repeat too, and 200 once it is done', async () => {
    const ids = { instance: randomUUID() };
    const first = await platform.provision(ids, kubeconfig);
    const polled = await platform.lastOperation(ids);
    await becomesReady(ids.instance);
    const repeat = await platform.provision(ids, kubeconfig);

    expect(first.status).toBe(202);
    expect(first.body).toEqual({
      operation: expect.stringMatching(/^[A-Za-z0-9._~-]+$/) as unknown,
    });
    expect(polled.status).toBe(200);
    expect(Object.keys(polled.body)).toEqual(['state', 'description']);
    expect([repeat.status, repeat.body]).toEqual([200, {}]);
  });

  it('show an instance without its secrets', async () => {
    expect(await platform.getInstance({ instance })).toMatchObject({
      status: 200,
      body: { ...OFFER, parameters: { name: 'answers' } },
    });
    expect((await platform.getInstance({ instance })).body['parameters']).toEqual({
      name: 'answers',
    });
  });

  it('hand out a binding with all that docs/api.md names, then the same again', async () => {
    const ids = { instance, binding: randomUUID() };
    const created = await platform.bind(ids, { expiration_seconds: 900 });
    const repeat = await platform.bind(ids, { expiration_seconds: 900 });
    const fetched = await platform.getBinding(ids);

    expect(created.status).toBe(201);
    expect(Object.keys(created.body)).toEqual(['credentials', 'metadata']);
    expect(Object.keys(created.body.credentials)).toEqual([
      'kubeconfig',
      'server',
      'certificate_authority_data',
      'token',
    ]);
    expect(created.body.metadata.expires_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\dZ$/);
    expect(created.headers.get('cache-control')).toBe('no-store');
    expect([repeat.status, repeat.body]).toEqual([200, created.body]);
    expect(fetched.status).toBe(200);
    expect(fetched.body).toEqual({ ...created.body, parameters: { expiration_seconds: 900 } });
    expect(fetched.headers.get('cache-control')).toBe('no-store');
  });

  it('count down the bindings that are left', async () => {
    const left = async () => {
      const { headers } = await platform.bind({ instance, binding: randomUUID() });
      return Number(headers.get('x-runtime-broker-bindings-remaining'));
    };
    const first = await left();
    const second = await left();

    expect(first).toBeLessThan(10);
    expect(second).toBe(first - 1);
  });

  it('say what a request without a lifetime said: nothing', async () => {
    const ids = { instance, binding: randomUUID() };
    await platform.bind(ids);

    expect((await platform.getBinding(ids)).body.parameters).toEqual({});
  });

  it('end a binding with 200, then with 410 and an empty object', async () => {
    const ids = { instance, binding: randomUUID() };
    await platform.bind(ids);
    const ended = await platform.unbind(ids);
    const again = await platform.unbind(ids);

    expect([ended.status, ended.body]).toEqual([200, {}]);
    expect([again.status, again.body]).toEqual([410, {}]);
  });

  it('keep ids apart that a path would mix up', async () => {
    const odd = '../../etc/%2F ä😀';
    await platform.provision({ instance: odd }, kubeconfig);
    await becomesReady(odd);
    const ids = { instance: odd, binding: 'a/b?c#d' };
    const created = await platform.bind(ids);

    expect(created.status).toBe(201);
    expect((await platform.getBinding(ids)).body.credentials).toEqual(created.body.credentials);
    expect((await platform.getBinding({ instance: odd, binding: 'a%2Fb?c#d' })).status).toBe(404);
    expect((await platform.unbind(ids)).status).toBe(200);
  });

  it.each([
    ['the identity of the platform', {}, { user_id: 'u-1' }, 'u-1 cloudfoundry'],
    ['the context', { email: 'a@b', origin: 'ldap' }, { user_id: 'u-1' }, 'a@b ldap'],
    ['nobody but the platform', {}, undefined, 'broker'],
  ])('record who asked for a binding: %s', async (...[, context, claims, createdBy]) => {
    const ids: Ids = { instance, binding: randomUUID() };
    const identity = Buffer.from(JSON.stringify(claims ?? '')).toString('base64');
    const headers =
      claims === undefined
        ? {}
        : { 'x-broker-api-originating-identity': `cloudfoundry ${identity}` };
    const body = { ...OFFER, context };
    const answer = await platform.call<BindingBody>({
      method: 'PUT',
      path: bindingPath(ids),
      body,
      headers,
    });

    expect(answer.status).toBe(201);
    expect(broker.log()).toContainEqual(
      expect.objectContaining({ event: 'binding-issued', bindingId: ids.binding, createdBy }),
    );
  });

  it('tell what is refused by state in the words of OSB', async () => {
    const path = `/service_instances/${instance}`;
    const query = `service_id=${SERVICE_ID}&plan_id=${OWN_CLUSTER_PLAN_ID}`;
    const flagless = await platform.call({ method: 'DELETE', path: `${path}?${query}` });
    const unknown = await platform.lastOperation({ instance: randomUUID() });
    const tooShort = await platform.bind(
      { instance, binding: randomUUID() },
      { expiration_seconds: 0 },
    );
    const gone = await platform.deprovision({ instance: randomUUID() });

    expect([flagless.status, flagless.body]).toEqual([
      422,
      {
        error: 'AsyncRequired',
        description:
          'This service plan requires client support for asynchronous service operations.',
      },
    ]);
    expect(unknown.status).toBe(404);
    expect([tooShort.status, tooShort.body]).toEqual([
      400,
      { description: 'expiration_seconds cannot be less than 600' },
    ]);
    expect([gone.status, gone.body]).toEqual([410, {}]);
  });
});

describeWith({}, 'a broker whose database is away', () => {
  it('serves probes, and 503 with Retry-After for everything else', async () => {
    const away = await openBroker({ databaseUrl: 'postgres://broker:pw@127.0.0.1:1/broker' });
    try {
      const catalog = await away.platform.catalog();
      const health = await fetch(`${away.operatorUrl}/healthz`);
      const ready = await fetch(`${away.operatorUrl}/readyz`);

      expect([catalog.status, catalog.headers.get('retry-after')]).toEqual([503, '5']);
      expect([health.status, ready.status]).toEqual([200, 503]);
      expect(await ready.json()).toMatchObject({ checks: { database: 'failing' } });
    } finally {
      await away.stop();
    }
  });
});
