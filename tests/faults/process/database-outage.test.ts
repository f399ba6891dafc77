// PostgreSQL that is not there, at the start or later: the listeners are up, probes tell, everything else is 503 with
// Retry-After, and its return needs no restart (docs/architecture.md, "One binding, walked"; docs/api.md, "Probes").
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { sharedCluster } from '../../support/cluster.ts';
import { ownPostgres } from '../../support/database.ts';
import { describeWith } from '../../support/needs.ts';
import { OWN_CLUSTER_PLAN_ID, SERVICE_ID } from '../../support/platform.ts';
import type { Postgres } from '../../support/real-parts/postgres.ts';
import { until } from '../../support/until.ts';
import { operationEnded, PATIENT_TEST_MS } from '../../integration/instances/waits.ts';
import { type OpenedBroker, openBrokerProcess } from './opened-broker.ts';

const INSTANCE = '/service_instances/i';
const BINDING = `${INSTANCE}/service_bindings/b`;
const OFFERING = `service_id=${SERVICE_ID}&plan_id=${OWN_CLUSTER_PLAN_ID}`;

/** Every OSB route that there is. */
const CALLS = [
  { method: 'GET', path: '/catalog' },
  { method: 'PUT', path: `${INSTANCE}?accepts_incomplete=true` },
  { method: 'GET', path: INSTANCE },
  { method: 'GET', path: `${INSTANCE}/last_operation` },
  { method: 'DELETE', path: `${INSTANCE}?accepts_incomplete=true&${OFFERING}` },
  { method: 'PUT', path: BINDING },
  { method: 'GET', path: BINDING },
  { method: 'GET', path: `${BINDING}/last_operation` },
  { method: 'DELETE', path: `${BINDING}?${OFFERING}` },
] as const;

describeWith({ ownPostgres: true, cluster: true }, 'a broker whose PostgreSQL', () => {
  let postgres: Postgres;
  let proxy: ClusterProxy;
  let broker: OpenedBroker;

  beforeAll(async () => {
    [postgres, proxy] = await Promise.all([ownPostgres(), openClusterProxy(sharedCluster())]);
    await postgres.kill();
    broker = await openBrokerProcess({ databaseUrl: postgres.url });
  });

  afterAll(async () => {
    await broker.end('SIGKILL');
    await proxy.stop();
    await postgres.stop();
  });

  async function expectUnavailable(): Promise<void> {
    for (const call of CALLS) {
      const body = {
        service_id: SERVICE_ID,
        plan_id: OWN_CLUSTER_PLAN_ID,
        organization_guid: 'o',
        space_guid: 's',
        ...(call.path === BINDING ? {} : { parameters: { kubeconfig: proxy.adminKubeconfig } }),
      };
      const answer = await broker.platform.call({
        ...call,
        ...(call.method === 'PUT' ? { body } : {}),
      });
      expect({ call, status: answer.status }).toEqual({ call, status: 503 });
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(answer.body).toEqual({ description: expect.stringMatching(/\S/) as string });
    }
    expect(await broker.probe('/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
    expect(await broker.probe('/readyz')).toMatchObject({
      status: 503,
      body: { status: 'not ready', checks: { database: 'failing' } },
    });
  }

  it('is absent at the start listens, tells so, and serves once it comes', async () => {
    await expectUnavailable();
    expect(broker.log()).toContainEqual(
      expect.objectContaining({ level: 'warn', msg: 'the database is not ready; trying again' }),
    );

    await postgres.restart();
    await broker.untilReady();
    expect(await broker.probe('/readyz')).toEqual({
      status: 200,
      body: {
        status: 'ready',
        checks: { database: 'ok', clock: 'ok', jobs: 'ok' },
        warnings: [],
      },
    });
    expect((await broker.platform.catalog()).status).toBe(200);
    await broker.platform.provision({ instance: 'before' }, proxy.adminKubeconfig);
    expect(await operationEnded(broker.platform, { instance: 'before' })).toBe('succeeded');
  });

  it('goes away while it serves tells so, and serves again once it is back', async () => {
    const { platform } = broker;
    const ids = { instance: 'before', binding: 'b' };
    const bound = await platform.bind(ids);

    await postgres.kill();
    await expectUnavailable();
    await postgres.restart();
    await broker.untilReady();

    expect((await platform.catalog()).status).toBe(200);
    expect((await platform.getBinding(ids)).body.credentials).toEqual(bound.body.credentials);
    expect((await platform.unbind(ids)).status).toBe(200);
  });

  it(
    'goes away in the middle of an operation goes on with it, without a restart',
    async () => {
      const { platform } = broker;
      const ids = { instance: 'during' };
      const held = proxy.misbehave({ on: /selfsubjectaccessreviews$/, act: { kind: 'hold' } });
      await platform.provision(ids, proxy.adminKubeconfig);
      await until({ what: 'a step is held', limitMs: 20_000, isSo: () => held.seen() > 0 });

      await postgres.kill();
      held.end();
      await until({
        what: 'the runner has found the database gone',
        limitMs: 20_000,
        isSo: () => broker.log().some(({ msg }) => msg === 'a step is not stored yet'),
      });
      await postgres.restart();
      expect(await operationEnded(platform, ids)).toBe('succeeded');
      expect(proxy.requests(/^POST .*namespaces$/).length).toBeLessThanOrEqual(1);

      await platform.deprovision(ids);
      expect(await operationEnded(platform, ids)).toBe('succeeded');
    },
    PATIENT_TEST_MS,
  );

  it('has gone for good ends in order on SIGTERM all the same', async () => {
    await postgres.kill();
    expect(await broker.end('SIGTERM')).toBe(0);
    expect(broker.log().at(-1)).toMatchObject({ msg: 'stopped' });
  });
});

describeWith({ ownPostgres: true }, 'a broker that never reached its PostgreSQL', () => {
  it('ends in order on SIGTERM', async () => {
    const broker = await openBrokerProcess({
      databaseUrl: 'postgres://broker@127.0.0.1:1/broker',
    });
    expect((await broker.probe('/healthz')).status).toBe(200);
    expect(await broker.end('SIGTERM')).toBe(0);
    expect(broker.log().at(-1)).toMatchObject({ msg: 'stopped' });
  });
});
