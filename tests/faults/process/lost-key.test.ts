// The sealing key is lost, or another one is configured by mistake: only what was sealed under it fails, each with that
// cause (docs/configuration.md, "Environment variables"). The key of the marks is sealed too, so nothing can be issued.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { sharedCluster } from '../../support/cluster.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { describeWith } from '../../support/needs.ts';
import { newId, untilOperationEnds } from '../../integration/bindings/scene.ts';
import { drawSealingKeys } from '../../integration/instances/attached-cluster.ts';

describeWith(
  { postgres: true, cluster: true },
  'a broker that starts under another sealing key',
  () => {
    let database: FreshDatabase;
    let broker: TestBroker;
    const first = { RUNTIME_BROKER_SEALING_KEYS: drawSealingKeys() };
    const live = { instance: newId('i'), binding: newId('live') };

    beforeAll(async () => {
      database = await freshDatabase();
      const before = await startBroker({ databaseUrl: database.url, env: first });
      await before.platform.provision(live, sharedCluster().adminKubeconfig);
      await untilOperationEnds(before.platform, live, 'succeeded');
      await before.platform.bind(live);
      await before.stop();
      broker = await startBroker({ databaseUrl: database.url });
    });

    afterAll(async () => {
      await broker.stop();
      await database.drop();
    });

    it('serves what needs no key', async () => {
      expect((await broker.platform.catalog()).status).toBe(200);
      expect((await broker.platform.getInstance(live)).status).toBe(200);
      expect((await broker.platform.bindingOperation(live)).body).toMatchObject({
        state: 'succeeded',
      });
    });

    it('tells the true cause once, and operators by the probe', async () => {
      const errors = broker
        .log()
        .filter(({ msg }) => String(msg).startsWith('the key of our marks'));
      expect(errors).toEqual([
        expect.objectContaining({
          level: 'error',
          err: expect.objectContaining({ type: 'SealingError' }) as unknown,
        }),
      ]);
      const ready = await fetch(`${broker.operatorUrl}/readyz`);
      expect(ready.status).toBe(200);
      expect(await ready.json()).toMatchObject({
        status: 'ready',
        warnings: [expect.stringMatching(/^The key that signs our marks .+ cannot be opened/)],
      });
    });

    it('fails a fetch and a bind with 500, an unbind with 503, each with its cause in the log', async () => {
      const fetched = await broker.platform.getBinding(live);
      const bound = await broker.platform.bind({ ...live, binding: newId('new') });
      const unbound = await broker.platform.unbind(live);

      expect([fetched.status, bound.status, unbound.status]).toEqual([500, 500, 503]);
      expect(unbound.headers.get('retry-after')).toBe('5');
      expect(JSON.stringify(broker.log().filter(({ level }) => level === 'error'))).toContain(
        'SealingError',
      );
    });

    it('is cured by the right key', async () => {
      const cured = await startBroker({ databaseUrl: database.url, env: first });
      expect((await cured.platform.unbind(live)).status).toBe(200);
      await cured.stop();
    });

    it('issues nothing on what was attached since, and leaves nothing to be undone', async () => {
      const since = { instance: newId('since'), binding: newId('since') };
      await broker.platform.provision(since, sharedCluster().adminKubeconfig);
      await untilOperationEnds(broker.platform, since, 'succeeded');

      expect((await broker.platform.bind(since)).status).toBe(500);
      expect((await broker.platform.unbind(since)).status).toBe(410);
    });
  },
);
