// C: on whose behalf, and under which name (OSB 2.17, Originating Identity and Request Identity).

import { describe, expect, it } from 'vitest';
import { type Call, REQUEST_IDENTITY, VERSION } from '../osb-client.ts';
import { ROUTES } from '../routes.ts';
import { freshId, instancePath, type OpenSubject, type Subject } from '../subject.ts';

const ORIGINATING_IDENTITY = 'x-broker-api-originating-identity';

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

const CLOUD_FOUNDRY = encoded({ user_id: '683ea748-3092-4ff4-b656-39cacc4d5360' });
const KUBERNETES = encoded({
  username: 'duke',
  uid: 'c2dde242-5ce4-11e7-988c-000c2946f14f',
  groups: ['admin', 'dev'],
  extra: { mydata: ['data1', 'data3'] },
});

export function identityCases(open: OpenSubject): void {
  describe('the originating identity', () => {
    originatingIdentity(open);
  });
  describe('the request identity', () => {
    requestIdentity(open);
  });
}

function originatingIdentity(open: OpenSubject): void {
  it.each([
    ['C10, C11: of Cloud Foundry', `cloudfoundry ${CLOUD_FOUNDRY}`],
    ['C10, C11: of Kubernetes', `kubernetes ${KUBERNETES}`],
    ['C11: with keys that nobody knows', `cloudfoundry ${encoded({ user_id: 'u', more: [1] })}`],
    ['C12: missing', undefined],
    ['C13: of an unknown platform', `spaceship ${encoded({ captain: 'u' })}`],
    ['C13: without a value', 'cloudfoundry'],
    ['C13: without a blank', CLOUD_FOUNDRY],
    ['C13: that is not base64', 'cloudfoundry %%%'],
    ['C13: that is not JSON', `cloudfoundry ${Buffer.from('{').toString('base64')}`],
    ['C13: that is a list', `cloudfoundry ${encoded([])}`],
    ['C13: that is null', `cloudfoundry ${encoded(null)}`],
    ['C13: with a user that is no text', `cloudfoundry ${encoded({ user_id: {} })}`],
    ['C13: that is empty', ''],
  ])('%s: changes nothing of what is answered, on any route', async (_, identity) => {
    const subject = open();
    const headers = { [ORIGINATING_IDENTITY]: identity };
    const answers: number[] = [];
    for (const { call } of ROUTES.filter(({ title }) => title !== 'provisioning')) {
      answers.push((await subject.osb.call({ ...call(subject), headers })).status);
    }

    expect(answers).toEqual([200, 404, 404, 410, 404, 404, 404, 410, 404]);
  });

  it.each([
    ['C10: is recorded', `cloudfoundry ${CLOUD_FOUNDRY}`],
    ['C13: is ignored when it is malformed', 'cloudfoundry'],
    [
      'C13: is ignored when it is too long to be recorded',
      `cf ${encoded({ user_id: 'u'.repeat(300) })}`,
    ],
  ])('%s: a bind is served', async (_, identity) => {
    const subject = open();
    const instance = await subject.instance();
    const binding = freshId();
    const path = `${instancePath(instance)}/service_bindings/${binding}`;
    const headers = { [ORIGINATING_IDENTITY]: identity };
    const body = subject.offerFields;

    expect((await subject.osb.call({ method: 'PUT', path, body, headers })).status).toBe(201);
    expect((await subject.unbind(instance, binding)).status).toBe(200);
  });
}

/** A request that is answered with the status, on an instance that is ready. */
type WayTo = (subject: Subject, instance: string) => Call;

const WAYS: readonly [number, WayTo][] = [
  [200, () => ({ path: '/v2/catalog' })],
  [400, (_, instance) => ({ method: 'PUT', path: instancePath(instance), body: '{' })],
  [401, () => ({ path: '/v2/catalog', headers: { authorization: undefined } })],
  [404, () => ({ path: instancePath('nobody-has-this') })],
  [405, () => ({ method: 'POST', path: '/v2/catalog' })],
  [
    409,
    (subject, instance) => ({
      method: 'PUT',
      path: `${instancePath(instance)}?accepts_incomplete=true`,
      body: subject.provisioning({ parameters: { ...subject.offer.parameters, name: 'other' } }),
    }),
  ],
  [
    410,
    ({ offerQuery }) => ({
      method: 'DELETE',
      path: `${instancePath('nobody-has-this')}?accepts_incomplete=true&${offerQuery}`,
    }),
  ],
  [412, () => ({ path: '/v2/catalog', headers: { [VERSION]: undefined } })],
  [
    413,
    (_, instance) => ({
      method: 'PUT',
      path: instancePath(instance),
      body: `"${'x'.repeat(2 * 1024 * 1024)}"`,
    }),
  ],
  [
    422,
    ({ offerQuery }, instance) => ({
      method: 'DELETE',
      path: `${instancePath(instance)}?${offerQuery}`,
    }),
  ],
];

function requestIdentity(open: OpenSubject): void {
  const identity = 'e26cee84-6b38-4456-b34e-d1a9f002c956';

  it.each(WAYS)('C14: comes back with status %d, and is not invented', async (status, way) => {
    const subject = open();
    const call = way(subject, await subject.instance());
    const named = await subject.osb.call({
      ...call,
      headers: { ...call.headers, [REQUEST_IDENTITY]: identity },
    });
    const unnamed = await subject.osb.call({
      ...call,
      headers: { ...call.headers, [REQUEST_IDENTITY]: undefined },
    });

    expect([named.status, named.headers[REQUEST_IDENTITY]]).toEqual([status, identity]);
    expect([unnamed.status, unnamed.headers[REQUEST_IDENTITY]]).toEqual([status, undefined]);
  });

  it('C14: comes back with 202 and 201 too', async () => {
    const subject = open();
    const headers = { [REQUEST_IDENTITY]: identity };
    const path = instancePath(freshId());
    const body = subject.provisioning();
    const accepted = await subject.osb.call({
      method: 'PUT',
      path: `${path}?accepts_incomplete=true`,
      body,
      headers,
    });
    const id = decodeURIComponent(path.split('/').at(-1) ?? '');
    await subject.settled(id);
    const bound = await subject.osb.call({
      method: 'PUT',
      path: `${path}/service_bindings/b`,
      body: subject.offerFields,
      headers,
    });
    await subject.deprovision(id);

    expect([accepted.status, accepted.headers[REQUEST_IDENTITY]]).toEqual([202, identity]);
    expect([bound.status, bound.headers[REQUEST_IDENTITY]]).toEqual([201, identity]);
  });

  it.each([
    ['words and signs', 'not a "GUID"; but {a: text}, 50 %'],
    ['eight thousand characters', 'r'.repeat(8000)],
  ])('C14, C15: may be %s: it comes back as it was', async (_, text) => {
    const headers = { [REQUEST_IDENTITY]: text };
    const answer = await open().osb.call({ path: '/v2/catalog', headers });

    expect([answer.status, answer.headers[REQUEST_IDENTITY]]).toEqual([200, text]);
  });
}
