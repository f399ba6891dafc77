// The catalog over HTTP, by what the configuration offers: on PostgreSQL, without a control plane, that is own_cluster.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { type SharedCluster, sharedCluster } from '../../support/cluster.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { describeWith } from '../../support/needs.ts';
import { OWN_CLUSTER_PLAN_ID, SERVICE_ID } from '../../support/platform.ts';
import { drawSealingKeys } from './attached-cluster.ts';
import { operationEnded } from './waits.ts';

const NO_PLANS = 'plans: {own_cluster: {enabled: false}}';

describeWith({ postgres: true }, 'the catalog', () => {
  let database: FreshDatabase;
  let broker: TestBroker;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    database = await freshDatabase();
    env = { RUNTIME_BROKER_SEALING_KEYS: drawSealingKeys() };
    broker = await startBroker({ databaseUrl: database.url, env });
  });

  afterAll(async () => {
    await broker.stop();
    await database.drop();
  });

  it('offers own_cluster alone, with the ids and flags that platforms keep', async () => {
    const { status, body } = await broker.platform.catalog();

    expect(status).toBe(200);
    expect(body).toMatchObject({
      services: [
        {
          id: '47c9dcbf-ff30-448e-ab36-d3bad66ba281',
          name: 'kymaruntime',
          bindable: true,
          instances_retrievable: true,
          bindings_retrievable: true,
          allow_context_updates: true,
          plans: [
            {
              id: '03e3cb66-a4c6-4c6a-b4b0-5d42224debea',
              name: 'own_cluster',
              free: true,
              bindable: true,
              binding_rotatable: false,
            },
          ],
        },
      ],
    });
    const [{ plans }] = (body as { services: [{ plans: unknown[] }] }).services;
    expect(plans).toHaveLength(1);
  });

  it('publishes the schemas of both kinds of parameters as draft-04', async () => {
    const { body } = await broker.platform.catalog();
    const [{ plans }] = (body as { services: [{ plans: [{ schemas: unknown }] }] }).services;

    expect(plans[0].schemas).toMatchObject({
      service_instance: {
        create: {
          parameters: {
            $schema: 'http://json-schema.org/draft-04/schema#',
            type: 'object',
            required: ['kubeconfig'],
            additionalProperties: false,
            properties: { kubeconfig: { type: 'string' }, name: { maxLength: 64 } },
          },
        },
      },
      service_binding: {
        create: {
          parameters: {
            $schema: 'http://json-schema.org/draft-04/schema#',
            type: 'object',
            additionalProperties: false,
            properties: { expiration_seconds: { type: 'integer', minimum: 600, maximum: 7200 } },
          },
        },
      },
    });
  });

  it.each([
    ['a plan whose provisioner does not run here', '361c511f-f939-4621-b228-d0fb79a1fe15'],
    ['the sandbox', '5e7b1c1a-7a55-4d0c-9d7e-2f0c8a5f9b11'],
    ['no plan at all', 'own_cluster'],
  ])('%s cannot be had, and nothing is made', async (_, planId) => {
    const ids = { instance: `refused-${planId}` };
    const answer = await broker.platform.call({
      method: 'PUT',
      path: `/service_instances/${ids.instance}?accepts_incomplete=true`,
      body: {
        service_id: SERVICE_ID,
        plan_id: planId,
        organization_guid: 'organization',
        space_guid: 'space',
        parameters: { name: 'refused' },
      },
    });

    expect(answer.status).toBe(400);
    expect((await broker.platform.lastOperation(ids)).status).toBe(404);
  });

  it('has no offering where no plan can be had: an offering needs one (OSB 2.17, Catalog)', async () => {
    const without = await startBroker({ databaseUrl: database.url, env, configFile: NO_PLANS });
    try {
      const { status, body } = await without.platform.catalog();
      expect({ status, body }).toEqual({ status: 200, body: { services: [] } });
    } finally {
      await without.stop();
    }
  });
});

describeWith({ postgres: true, cluster: true }, 'a plan that left the catalog', () => {
  let database: FreshDatabase;
  let cluster: SharedCluster;
  let broker: TestBroker;

  beforeAll(async () => {
    cluster = sharedCluster();
    database = await freshDatabase();
    const env = { RUNTIME_BROKER_SEALING_KEYS: drawSealingKeys() };
    const before = await startBroker({ databaseUrl: database.url, env });
    await before.platform.provision({ instance: 'stranded' }, cluster.adminKubeconfig);
    await operationEnded(before.platform, { instance: 'stranded' });
    await before.stop();
    broker = await startBroker({ databaseUrl: database.url, env, configFile: NO_PLANS });
  });

  afterAll(async () => {
    await broker.stop();
    await database.drop();
  });

  it('cannot be had any more', async () => {
    const refused = await broker.platform.provision({ instance: 'new' }, cluster.adminKubeconfig);
    expect(refused.status).toBe(400);
    expect(String(refused.body['description'])).toContain('catalog');
  });

  it('C50, C144: still serves the instance that has it: repeat, fetch, poll, update, bind, unbind and delete', async () => {
    const { platform } = broker;
    const ids = { instance: 'stranded', binding: 'b' };

    expect((await platform.provision(ids, cluster.adminKubeconfig)).status).toBe(200);
    expect(await platform.getInstance(ids)).toMatchObject({
      status: 200,
      body: { plan_id: OWN_CLUSTER_PLAN_ID },
    });
    expect((await platform.lastOperation(ids)).body['state']).toBe('succeeded');
    const renamed = { plan_id: OWN_CLUSTER_PLAN_ID, parameters: { name: 'renamed' } };
    expect((await platform.update(ids, renamed)).status).toBe(202);
    expect(await operationEnded(platform, ids)).toBe('succeeded');
    expect((await platform.bind(ids)).status).toBe(201);
    expect((await platform.unbind(ids)).status).toBe(200);
    expect((await platform.deprovision(ids)).status).toBe(202);
    expect(await operationEnded(platform, ids)).toBe('succeeded');
  });
});
