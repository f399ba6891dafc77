import { describe, expect, it } from 'vitest';

import { refusingServer, send } from '../../../tests/support/refusing-server.ts';
import { BUILT_IN_PLANS, OFFERING } from '../../domain/built-in-plans.ts';
import { fromCatalog } from './wire-catalog.ts';

interface SentCatalog {
  readonly services: readonly [{ readonly plans: readonly Readonly<Record<string, unknown>>[] }];
}

describe('the catalog', () => {
  const { server } = refusingServer();

  it('has one offering, with every flag that a platform may misread when it is missing', async () => {
    const answer = await send(server, { method: 'GET', url: '/v2/catalog' });

    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      services: [
        {
          id: '47c9dcbf-ff30-448e-ab36-d3bad66ba281',
          name: 'kymaruntime',
          bindable: true,
          instances_retrievable: true,
          bindings_retrievable: true,
          allow_context_updates: true,
          plan_updateable: false,
        },
      ],
    });
  });

  it('C35: never changes the ids of its plans, nor whether they are free', async () => {
    const answer = await send(server, { method: 'GET', url: '/v2/catalog' });
    const { plans } = answer.json<SentCatalog>().services[0];

    expect(plans.map(({ name, id, free, bindable }) => [name, id, free, bindable])).toEqual([
      ['aws', '361c511f-f939-4621-b228-d0fb79a1fe15', false, true],
      ['azure', '4deee563-e5ec-4731-b9b1-53b42d855f0c', false, true],
      ['gcp', 'ca6e5357-707f-4565-bbbd-b3ab732597c6', false, true],
      ['azure_lite', '8cb22518-aa26-44c5-91a0-e669ec9bf443', false, true],
      ['trial', '7d55d31d-35ae-4438-bf13-6ffdfa107d9f', true, true],
      ['free', 'b1a5764e-2ea1-4f95-94c0-2b4538b37b55', true, true],
      ['own_cluster', '03e3cb66-a4c6-4c6a-b4b0-5d42224debea', true, true],
      ['sandbox', '5e7b1c1a-7a55-4d0c-9d7e-2f0c8a5f9b11', true, true],
    ]);
  });

  it('publishes what a request may carry as draft-04, and no null anywhere', async () => {
    const answer = await send(server, { method: 'GET', url: '/v2/catalog' });
    const { plans } = answer.json<SentCatalog>().services[0];

    expect(answer.body).not.toContain('null');
    expect(plans.find(({ name }) => name === 'own_cluster')).toMatchObject({
      binding_rotatable: false,
      plan_updateable: false,
      maximum_polling_duration: 900,
      schemas: {
        service_instance: {
          create: {
            parameters: {
              $schema: 'http://json-schema.org/draft-04/schema#',
              required: ['kubeconfig'],
            },
          },
          update: {
            parameters: {
              $schema: 'http://json-schema.org/draft-04/schema#',
              type: 'object',
              properties: { name: { maxLength: 64 }, kubeconfig: { type: 'string' } },
              additionalProperties: false,
            },
          },
        },
        service_binding: {
          create: {
            parameters: {
              $schema: 'http://json-schema.org/draft-04/schema#',
              properties: { expiration_seconds: { minimum: 600, maximum: 7200, default: 600 } },
              additionalProperties: false,
            },
          },
        },
      },
    });
  });

  it('announces no binding schema for a plan that cannot be bound', () => {
    const plans = BUILT_IN_PLANS.map((plan) => ({ ...plan, bindable: false }));
    const [service] = fromCatalog({ offering: OFFERING, plans }).services;

    expect(service?.plans[0]).toMatchObject({ bindable: false });
    expect(service?.plans[0]?.schemas).not.toHaveProperty('service_binding');
  });

  it('need not be sent again to who has it', async () => {
    const first = await send(server, { method: 'GET', url: '/v2/catalog' });
    const etag = String(first.headers.etag);
    const ask = (tags: string) =>
      send(server, { method: 'GET', url: '/v2/catalog', headers: { 'if-none-match': tags } });

    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await ask(tags);
      expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag]);
    }
    const other = await ask('"other"');
    expect([other.statusCode, other.body]).toEqual([200, first.body]);
  });
});
