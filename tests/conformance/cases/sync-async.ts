// G: instances are asynchronous only, bindings synchronous only, and which check comes first (OSB 2.17, Synchronous and
// Asynchronous Operations).

import { describe, expect, it } from 'vitest';
import { credentialsOf, statusWithToken } from '../credential.ts';
import { VERSION } from '../osb-client.ts';
import { bindingPath, freshId, instancePath, type OpenSubject } from '../subject.ts';

const NOBODY = 'nobody-has-this-instance';

export function syncAsyncCases(open: OpenSubject): void {
  describe('instances', () => {
    asynchronous(open);
    answered(open);
  });
  describe('bindings', () => {
    synchronous(open);
  });
  describe('the checks', () => {
    order(open);
  });
}

function asynchronous(open: OpenSubject): void {
  it.each([
    '',
    'accepts_incomplete',
    'accepts_incomplete=',
    'accepts_incomplete=false',
    'accepts_incomplete=1',
    'accepts_incomplete=TRUE',
    'accepts_incomplete=yes',
    'accepts_incomplete=true%20',
    'Accepts_incomplete=true',
    'accepts_incomplete=true&accepts_incomplete=false',
  ])('C52: need accepts_incomplete=true; with %j it is AsyncRequired', async (query) => {
    const subject = open();
    const { osb, offerQuery } = subject;
    const ready = instancePath(await subject.instance());
    const answers = [
      await osb.call({
        method: 'PUT',
        path: `${instancePath(NOBODY)}?${query}`,
        body: subject.provisioning(),
      }),
      await osb.call({ method: 'DELETE', path: `${ready}?${offerQuery}&${query}` }),
    ];

    for (const { status, body } of answers) {
      expect([status, body['error']]).toEqual([422, 'AsyncRequired']);
    }
    expect((await osb.call({ path: instancePath(NOBODY) })).status).toBe(404);
    expect((await subject.delete(NOBODY)).status).toBe(410);
  });
}

function answered(open: OpenSubject): void {
  it('C53, C56: are 202 with an operation of their own, short and safe in a URL', async () => {
    const subject = open();
    const id = freshId();
    const made = await subject.put(id);
    await subject.settled(id);
    const ended = await subject.delete(id);
    await subject.settled(id);

    expect([made.status, ended.status]).toEqual([202, 202]);
    for (const { body } of [made, ended]) {
      expect(Object.keys(body)).toEqual(['operation']);
      expect(body['operation']).toMatch(/^[A-Za-z0-9._~-]{1,64}$/);
    }
    expect(made.body['operation']).not.toBe(ended.body['operation']);
  });

  it.each(['?accepts_incomplete=true', '', '?accepts_incomplete=false'])(
    'C54: are 200 at once when there is nothing left to do (%j), and it is done',
    async (query) => {
      const subject = open();
      const path = instancePath(await subject.instance());
      const body = subject.provisioning();
      const repeat = await subject.osb.call({ method: 'PUT', path: path + query, body });

      expect([repeat.status, repeat.body]).toEqual([200, {}]);
      expect((await subject.osb.call({ path })).status).toBe(200);
    },
  );
}

function synchronous(open: OpenSubject): void {
  it.each(['accepts_incomplete=true', 'accepts_incomplete=false', 'accepts_incomplete=x'])(
    'C54, C55, C145: ignore %s: what is answered is done',
    async (query) => {
      const { osb, offerFields: body, offerQuery, ...subject } = parts(open);
      const instance = await subject.instance();
      const path = bindingPath(instance, freshId());
      const bound = await osb.call({ method: 'PUT', path: `${path}?${query}`, body });
      const worked = await statusWithToken(credentialsOf(bound));
      const unbound = await osb.call({ method: 'DELETE', path: `${path}?${offerQuery}&${query}` });

      expect([bound.status, worked]).toEqual([201, 200]);
      expect([unbound.status, unbound.body]).toEqual([200, {}]);
      expect((await osb.call({ path })).status).toBe(404);
      expect(await statusWithToken(credentialsOf(bound))).toBeOneOf([401, 403]);
    },
  );
}

function parts(open: OpenSubject) {
  const subject = open();
  const { osb, offerFields, offerQuery } = subject;
  return { osb, offerFields, offerQuery, instance: () => subject.instance() };
}

/** From the first check to the last: each request is wrong in what its title says and in all that comes after. */
function order(open: OpenSubject): void {
  it.each([
    [401, 'credentials', { authorization: undefined, [VERSION]: undefined }, '{'],
    [412, 'version', { [VERSION]: undefined }, '{'],
    [400, 'form', {}, '{'],
  ])('C57: %d first, for %s', async (...[status, , headers, body]) => {
    const { osb } = open();
    const path = instancePath(NOBODY);

    expect((await osb.call({ method: 'PUT', path, headers, body })).status).toBe(status);
  });

  it('C57: then required fields, then the catalog, then AsyncRequired', async () => {
    const subject = open();
    const path = instancePath(NOBODY);
    const ask = async (fields: Readonly<Record<string, unknown>>) => {
      const body = subject.provisioning(fields);
      const answer = await subject.osb.call({ method: 'PUT', path, body });
      return [answer.status, answer.body['error']];
    };

    expect(await ask({ plan_id: 'no-such-plan', space_guid: '' })).toEqual([400, undefined]);
    expect(await ask({ plan_id: 'no-such-plan' })).toEqual([400, undefined]);
    expect(await ask({})).toEqual([422, 'AsyncRequired']);
  });

  it('C57: a conflict before AsyncRequired, and what is gone before it too', async () => {
    const subject = open();
    const { osb, offerQuery } = subject;
    const path = instancePath(await subject.instance());
    const parameters = { ...subject.offer.parameters, name: 'another' };
    const body = subject.provisioning({ parameters });
    const gone = `${instancePath(NOBODY)}?${offerQuery}`;

    expect((await osb.call({ method: 'PUT', path, body })).status).toBe(409);
    expect((await osb.call({ method: 'DELETE', path: gone })).status).toBe(410);
  });

  it('C57: what the query of DELETE must have before what exists', async () => {
    const { osb, offer } = open();
    const flag = 'accepts_incomplete=true';
    for (const query of [
      flag,
      `${flag}&service_id=${offer.serviceId}`,
      `${flag}&plan_id=${offer.planId}`,
      `${flag}&service_id=&plan_id=${offer.planId}`,
    ]) {
      const path = `${instancePath(NOBODY)}?${query}`;
      expect((await osb.call({ method: 'DELETE', path })).status).toBe(400);
    }
  });
}
