// Probes and listeners: what an orchestrator may ask without credentials, where, and what makes a replica unready
// (docs/api.md, "Probes").
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { startFreezingProxy } from '../../integration/storage/freezing-proxy.ts';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { describeWith } from '../../support/needs.ts';
import { Platform } from '../../support/platform.ts';
import { until } from '../../support/until.ts';
import { drawToken } from '../../integration/instances/attached-cluster.ts';

describeWith({ postgres: true }, 'the probes', () => {
  let database: FreshDatabase;
  let broker: TestBroker;
  let offsetMs = 0;
  const password = drawToken();

  beforeAll(async () => {
    database = await freshDatabase();
    broker = await startBroker({
      databaseUrl: database.url,
      env: { RUNTIME_BROKER_PASSWORD: password },
      given: { clock: () => new Date(Date.now() + offsetMs) },
    });
  });

  afterAll(async () => {
    await broker.stop();
    await database.drop();
  });

  async function get(base: string, path: string, headers: Readonly<Record<string, string>> = {}) {
    const answer = await fetch(`${base}${path}`, { headers });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  describe('on the operator listener', () => {
    it('need no credentials, and no version of OSB', async () => {
      expect(await get(broker.operatorUrl, '/healthz')).toEqual({
        status: 200,
        body: { status: 'ok' },
      });
      expect(await get(broker.operatorUrl, '/readyz')).toEqual({
        status: 200,
        body: {
          status: 'ready',
          checks: { database: 'ok', clock: 'ok', jobs: 'ok' },
          warnings: [],
        },
      });
    });

    it.each([
      '/',
      '/v2/catalog',
      '/oauth/v2/catalog',
      '/oauth/cf-eu10/v2/catalog',
      '/v2/service_instances/i',
      '/health',
    ])('are alone there: %s is 404', async (path) => {
      const version = { 'x-broker-api-version': '2.17' };
      const { status, body } = await get(broker.operatorUrl, path, version);
      expect(status).toBe(404);
      expect(body).toEqual({ description: expect.stringMatching(/\S/) as string });
    });

    it('are asked by GET alone', async () => {
      const answer = await fetch(`${broker.operatorUrl}/healthz`, { method: 'POST' });
      expect(answer.status).toBe(405);
      await answer.body?.cancel();
    });
  });

  it.each(['/healthz', '/readyz', '/v2/healthz', '/v2/readyz'])(
    'are not on the public listener: %s, with credentials and without',
    async (path) => {
      const stranger = await get(broker.publicUrl, path);
      expect([401, 404]).toContain(stranger.status);
      const authorization = `Basic ${Buffer.from(`broker:${password}`).toString('base64')}`;
      expect((await get(broker.publicUrl, path, { authorization })).status).toBe(404);
    },
  );

  it.each([
    ['ahead', 3_000],
    ['behind', -3_000],
  ])('tell of a clock that is %s of the database by more than two seconds', async (_, ms) => {
    offsetMs = ms;
    expect(await get(broker.operatorUrl, '/readyz')).toEqual({
      status: 503,
      body: {
        status: 'not ready',
        checks: { database: 'ok', clock: 'failing', jobs: 'ok' },
        warnings: [],
      },
    });
    expect((await get(broker.operatorUrl, '/healthz')).status).toBe(200);
    // Unready is a word for load balancers: who asks all the same is served.
    const platform = new Platform({ url: broker.publicUrl, username: 'broker', password });
    expect((await platform.catalog()).status).toBe(200);

    offsetMs = ms / 3;
    expect((await get(broker.operatorUrl, '/readyz')).status).toBe(200);
  });

  it('tell of a job engine that has stopped, while requests are served', async () => {
    const own = await freshDatabase();
    const other = await startBroker({ databaseUrl: own.url });
    await other.composition.broker.jobs.stop();
    expect(await get(other.operatorUrl, '/readyz')).toEqual({
      status: 503,
      body: {
        status: 'not ready',
        checks: { database: 'ok', clock: 'ok', jobs: 'failing' },
        warnings: [],
      },
    });
    await other.stop();
    await own.drop();
  });

  it('tell soon of a database that is silent', async () => {
    const own = await freshDatabase();
    const frozen = await startFreezingProxy(new Secret(own.url));
    const other = await startBroker({
      databaseUrl: frozen.url,
      // Stopping waits for as long as an issue may take, since nothing answers any more.
      configFile: 'createTimeoutSeconds: 1',
    });
    await get(other.operatorUrl, '/readyz');
    frozen.freeze();
    const beganAt = performance.now();
    const { status, body } = await get(other.operatorUrl, '/readyz');
    // A second is what is promised; a statement would be waited for for five.
    expect(performance.now() - beganAt).toBeLessThan(4_000);
    expect([status, body['checks']]).toEqual([
      503,
      { database: 'failing', clock: 'failing', jobs: 'ok' },
    ]);
    frozen.thaw();
    await other.stop();
    await frozen.stop();
    await own.drop();
  });

  it('tell of a database that was dropped', async () => {
    offsetMs = 0;
    const own = await freshDatabase();
    const other = await startBroker({ databaseUrl: own.url });
    await own.drop();
    try {
      await until({
        what: 'the probe tells of it',
        limitMs: 20_000,
        isSo: async () => (await get(other.operatorUrl, '/readyz')).status === 503,
      });
      expect((await get(other.operatorUrl, '/readyz')).body['checks']).toMatchObject({
        database: 'failing',
      });
      expect((await get(other.operatorUrl, '/healthz')).status).toBe(200);
    } finally {
      await other.stop();
    }
  });
});
