// F: the catalog (OSB 2.17, Catalog Management), as strictly as the strictest platform reads it.

import { describe, expect, it } from 'vitest';
import type { OpenSubject } from '../subject.ts';

type Fields = Readonly<Record<string, unknown>>;

interface CatalogPlan extends Fields {
  readonly id: string;
  readonly name: string;
  readonly schemas?: Readonly<Record<string, Readonly<Record<string, { parameters: Fields }>>>>;
}

interface CatalogOffering extends Fields {
  readonly id: string;
  readonly name: string;
  readonly plans: readonly CatalogPlan[];
}

const DRAFT_04 = 'http://json-schema.org/draft-04/schema#';

/** What platforms of today have stored; an id that changes strands their instances. */
const PINNED: Readonly<Record<string, string>> = {
  kymaruntime: '47c9dcbf-ff30-448e-ab36-d3bad66ba281',
  aws: '361c511f-f939-4621-b228-d0fb79a1fe15',
  azure: '4deee563-e5ec-4731-b9b1-53b42d855f0c',
  gcp: 'ca6e5357-707f-4565-bbbd-b3ab732597c6',
  azure_lite: '8cb22518-aa26-44c5-91a0-e669ec9bf443',
  trial: '7d55d31d-35ae-4438-bf13-6ffdfa107d9f',
  free: 'b1a5764e-2ea1-4f95-94c0-2b4538b37b55',
  own_cluster: '03e3cb66-a4c6-4c6a-b4b0-5d42224debea',
  sandbox: '5e7b1c1a-7a55-4d0c-9d7e-2f0c8a5f9b11',
};

export function catalogCases(open: OpenSubject): void {
  describe('the catalog', () => {
    names(open);
    texts(open);
    flags(open);
    flagsOfPlans(open);
    schemas(open);
    caching(open);
  });
}

async function servicesOf(open: OpenSubject): Promise<readonly CatalogOffering[]> {
  const { body } = await open().osb.call({ path: '/v2/catalog' });
  return (body as unknown as { services: readonly CatalogOffering[] }).services;
}

async function plansOf(open: OpenSubject): Promise<readonly CatalogPlan[]> {
  return (await servicesOf(open)).flatMap(({ plans }) => plans);
}

function names(open: OpenSubject): void {
  it('C33: is 200, an object with a list of services that is not empty', async () => {
    const { status, body } = await open().osb.call({ path: '/v2/catalog' });

    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['services']);
    expect(body['services']).toEqual([expect.any(Object), ...(body['services'] as []).slice(1)]);
  });

  it('C34: names each service once, fit for a command line', async () => {
    const all = (await servicesOf(open)).map(({ name }) => name);

    expect(new Set(all).size).toBe(all.length);
    for (const name of all) expect(name).toMatch(/^[A-Za-z0-9.-]+$/);
  });

  it('C38: has at least one plan for each service, named once in it', async () => {
    for (const { plans } of await servicesOf(open)) {
      const all = plans.map(({ name }) => name);
      expect(all.length).toBeGreaterThan(0);
      expect(new Set(all).size).toBe(all.length);
      for (const name of all) expect(name).toMatch(/^[A-Za-z0-9._-]+$/);
    }
  });

  it('C35, C38: has ids that are unique over all of it, and GUIDs', async () => {
    const ids = (await servicesOf(open)).flatMap(({ id, plans }) => [
      id,
      ...plans.map((plan) => plan.id),
    ]);

    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it('C35: has the ids that it always had, under every mount', async () => {
    const { osb, prefixes } = open();
    const first = await osb.call({ path: '/v2/catalog' });
    for (const prefix of prefixes) {
      expect((await osb.call({ path: `${prefix}/v2/catalog` })).text).toBe(first.text);
    }
    const known = (await servicesOf(open))
      .flatMap((service) => [service, ...service.plans])
      .filter(({ name }) => name in PINNED);
    expect(known.map(({ id }) => id)).toEqual(known.map(({ name }) => PINNED[name]));
  });
}

function texts(open: OpenSubject): void {
  it('C36, C47: describes services and plans, in texts that platforms can keep', async () => {
    for (const each of [...(await servicesOf(open)), ...(await plansOf(open))]) {
      expect(each['description']).toEqual(expect.stringMatching(/^[^]{1,255}$/));
      expect(each.name.length).toBeLessThanOrEqual(255);
      expect(each.id.length).toBeLessThanOrEqual(255);
    }
  });

  it('C49: has names for people', async () => {
    for (const each of [...(await servicesOf(open)), ...(await plansOf(open))]) {
      expect(each['metadata']).toMatchObject({
        displayName: expect.stringMatching(/\S/) as unknown,
      });
    }
  });
}

function flags(open: OpenSubject): void {
  it('C37: says of each service and plan whether it can be bound', async () => {
    for (const service of await servicesOf(open)) {
      expect(service['bindable']).toBe(true);
      for (const plan of service.plans) expect(plan['bindable']).toBeTypeOf('boolean');
    }
  });

  it('C39: requires no permissions, and promises nothing that would need them', async () => {
    for (const service of await servicesOf(open)) expect(service['requires'] ?? []).toEqual([]);
  });

  it('C40, C80: says that instances and bindings can be fetched, and they can', async () => {
    const subject = open();
    const instance = await subject.instance();
    await subject.bind(instance, 'fetched');
    const paths = ['', '/service_bindings/fetched'];
    for (const path of paths) {
      const url = `/v2/service_instances/${instance}${path}`;
      expect((await subject.osb.call({ path: url })).status).toBe(200);
    }
    await subject.unbind(instance, 'fetched');
    for (const service of await servicesOf(open)) {
      expect(service).toMatchObject({ instances_retrievable: true, bindings_retrievable: true });
    }
  });

  it('C41: says whether it wants to know of changes of context', async () => {
    for (const service of await servicesOf(open)) {
      expect(service['allow_context_updates']).toBeTypeOf('boolean');
    }
  });

  it('C42: says in the spelling of OSB that plans cannot be changed', async () => {
    for (const each of [...(await servicesOf(open)), ...(await plansOf(open))]) {
      expect(each['plan_updateable']).toBe(false);
      expect(each).not.toHaveProperty('plan_updatable');
    }
  });
}

function flagsOfPlans(open: OpenSubject): void {
  it('C43: says of each plan, and of no service, that its bindings are not rotated', async () => {
    for (const plan of await plansOf(open)) expect(plan['binding_rotatable']).toBe(false);
    for (const service of await servicesOf(open)) {
      expect(service).not.toHaveProperty('binding_rotatable');
    }
  });

  it('C44: says how long to poll, in whole seconds, longer than we try', async () => {
    for (const plan of await plansOf(open)) {
      expect(plan['maximum_polling_duration']).toSatisfy(Number.isInteger);
      expect(plan['maximum_polling_duration']).toBeGreaterThan(90);
    }
  });

  it('C46: has no maintenance to offer, and so no maintenance_info', async () => {
    for (const plan of await plansOf(open)) expect(plan).not.toHaveProperty('maintenance_info');
  });

  it('C51: says of each plan whether it is free', async () => {
    for (const plan of await plansOf(open)) expect(plan['free']).toBeTypeOf('boolean');
  });

  it('C152: offers no dashboard client and no sharing', async () => {
    for (const service of await servicesOf(open)) {
      expect(service).not.toHaveProperty('dashboard_client');
      expect(service['metadata']).not.toHaveProperty('shareable');
    }
  });
}

function schemas(open: OpenSubject): void {
  it('C45: publishes schemas in draft-04, whole and small', async () => {
    for (const plan of await plansOf(open)) {
      const published = Object.values(plan.schemas ?? {}).flatMap((each) => Object.values(each));
      expect(published.length).toBeGreaterThan(0);
      for (const { parameters } of published) {
        const text = JSON.stringify(parameters);
        expect(parameters['$schema']).toBe(DRAFT_04);
        expect(text).not.toMatch(/"\$ref":"(?!#)/);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64 * 1024);
      }
    }
  });
}

function caching(open: OpenSubject): void {
  it('C48: need not be sent again to who has it', async () => {
    const { osb } = open();
    const first = await osb.call({ path: '/v2/catalog' });
    const second = await osb.call({ path: '/v2/catalog' });
    const etag = String(first.headers.etag);
    const known = { path: '/v2/catalog', headers: { 'if-none-match': etag } };
    const again = await osb.call(known);
    const changed = await osb.call({ path: '/v2/catalog', headers: { 'if-none-match': '"x"' } });

    expect(etag).toMatch(/^(W\/)?"[^"]+"$/);
    expect(second.headers.etag).toBe(etag);
    expect([again.status, again.text]).toEqual([304, '']);
    expect([changed.status, changed.text]).toEqual([200, first.text]);
  });

  it('C48: is not told even so to strangers, or in another version', async () => {
    const { osb } = open();
    const etag = String((await osb.call({ path: '/v2/catalog' })).headers.etag);
    const asked = async (headers: Readonly<Record<string, string | undefined>>) => {
      const all = { 'if-none-match': etag, ...headers };
      return (await osb.call({ path: '/v2/catalog', headers: all })).status;
    };

    expect(await asked({ authorization: undefined })).toBe(401);
    expect(await asked({ 'x-broker-api-version': undefined })).toBe(412);
  });
}
