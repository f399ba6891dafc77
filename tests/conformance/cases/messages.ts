// D: what is sent and in which form: bodies, content types, methods, and what a broker must put up with (OSB 2.17,
// Service Broker API Messages and Content Type).

import { describe, expect, it } from 'vitest';
import { ROUTES } from '../routes.ts';
import { bindingPath, freshId, instancePath, type OpenSubject, type Subject } from '../subject.ts';

const NOBODY = 'nobody-has-this-instance';

/** The two requests that have a body, for an instance that does not exist: what is wrong with it is told first. */
const WITH_BODY = [
  { method: 'PUT', path: `${instancePath(NOBODY)}?accepts_incomplete=true` },
  { method: 'PUT', path: bindingPath(NOBODY, 'b') },
] as const;

export function messageCases(open: OpenSubject): void {
  describe('a body', () => {
    wrongBodies(open);
    wrongFields(open);
    toleratedFields(open);
  });
  describe('a content type', () => {
    contentTypes(open);
    typesWithoutBody(open);
  });
  describe('a request', () => {
    sizes(open);
    unmatched(open);
    silentHeaders(open);
  });
}

async function statuses(open: OpenSubject, body: string | Buffer | undefined, type?: string) {
  const { osb } = open();
  const headers = { 'content-type': type ?? 'application/json' };
  const sent = body === undefined ? {} : { body };
  const answers: number[] = [];
  for (const call of WITH_BODY) {
    answers.push((await osb.call({ ...call, ...sent, headers })).status);
  }
  return answers;
}

function wrongBodies(open: OpenSubject): void {
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

  it.each<[string, string | Buffer | undefined]>([
    ['missing', undefined],
    ['empty', ''],
    ['a blank', ' '],
    ['null', 'null'],
    ['true', 'true'],
    ['a number', '1'],
    ['a text', '"text"'],
    ['a list', '[]'],
    ['a list of what would be right', '[{"service_id":"s","plan_id":"p"}]'],
    ['an object without fields', '{}'],
    ['half of one', '{"service_id":'],
    ['two', '{}{}'],
    ['JSON with a comment', '{} // x'],
    ['JSON with a comma too many', '{"a":1,}'],
    ['a form', 'service_id=s&plan_id=p'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
    ['nested 100 000 levels deep', nested(100_000)],
    ['lists 100 000 levels deep', '['.repeat(100_000)],
  ])('C20: of a PUT must not be %s: 400', async (_, body) => {
    expect(await statuses(open, body)).toEqual([400, 400]);
  });
}

/** Undefined leaves the field out. */
const WRONG_FIELDS: readonly [string, Readonly<Record<string, unknown>>][] = [
  ['no service_id', { service_id: undefined }],
  ['service_id null', { service_id: null }],
  ['service_id a number', { service_id: 1 }],
  ['service_id a list', { service_id: ['s'] }],
  ['service_id empty', { service_id: '' }],
  ['no plan_id', { plan_id: undefined }],
  ['plan_id an object', { plan_id: {} }],
  ['context a text', { context: 'cloudfoundry' }],
  ['context a list', { context: [] }],
  ['platform a number', { context: { platform: 1 } }],
  ['parameters a text', { parameters: '{}' }],
  ['parameters a list', { parameters: [] }],
  ['parameters true', { parameters: true }],
  ['a NUL in a text', { service_id: 'a\0b' }],
];

function wrongFields(open: OpenSubject): void {
  it.each(WRONG_FIELDS)('C20, C78: must not have %s: 400', async (_, fields) => {
    const subject = open();
    const { osb } = subject;
    const provisioning = await osb.call({ ...WITH_BODY[0], body: subject.provisioning(fields) });
    const binding = { ...subject.offerFields, ...fields };
    const bind = await osb.call({ ...WITH_BODY[1], body: binding });

    expect([provisioning.status, bind.status]).toEqual([400, 400]);
  });

  it.each([
    ['organization_guid', undefined],
    ['organization_guid', ''],
    ['organization_guid', 1],
    ['space_guid', undefined],
    ['space_guid', ''],
    ['maintenance_info', '1.0.0'],
    ['maintenance_info', {}],
    ['maintenance_info', { version: 1 }],
  ])('C20, C63: must not provision with %s %j: 400', async (field, value) => {
    const answer = await open().put(NOBODY, { [field]: value });

    expect(answer.status).toBe(400);
  });

  it.each([
    ['bind_resource', 'text'],
    ['bind_resource', { app_guid: 1 }],
    ['app_guid', 1],
  ])('C20: must not bind with %s %j: 400', async (field, value) => {
    const answer = await open().bind(NOBODY, 'b', { [field]: value });

    expect(answer.status).toBe(400);
  });
}

/** Each with what a `parameters` may not have: our own schema is strict (C16). */
const UNKNOWN = { unknown: 1, 'x-vendor': { deep: [{ unknown: null }] }, 'constructor.name': 'x' };

const TOLERATED: readonly [string, Readonly<Record<string, unknown>>][] = [
  ['C16: unknown fields', UNKNOWN],
  ['C16: unknown fields in context', { context: { platform: 'p', ...UNKNOWN } }],
  ['C16: unknown fields in previous_values', { previous_values: UNKNOWN }],
  ['C16: unknown fields in bind_resource', { bind_resource: UNKNOWN }],
  ['C21: null for what may be absent', { context: null, maintenance_info: null, app_guid: null }],
  ['C21: null inside a context', { context: { platform: null, email: null, user_id: null } }],
  ['C21: an empty app_guid', { app_guid: '', bind_resource: { app_guid: '' } }],
  [
    'C21: null for bind_resource and predecessor',
    { bind_resource: null, predecessor_binding_id: null },
  ],
];

function toleratedFields(open: OpenSubject): void {
  it.each(TOLERATED)('%s: change nothing', async (_, fields) => {
    const subject = open();
    const instance = await subject.instance();
    const binding = freshId();
    const repeat = await subject.put(instance, fields);
    const bound = await subject.bind(instance, binding, fields);
    const again = await subject.bind(instance, binding);

    expect([repeat.status, bound.status, again.status]).toEqual([200, 201, 200]);
    await subject.unbind(instance, binding);
  });

  it.each([
    ['__proto__', '"__proto__":{"service_id":1,"parameters":[]}'],
    ['constructor', '"constructor":{"prototype":{"a":1}}'],
    ['a field twice, of which the last counts', '"service_id":1'],
    ['escaped names of fields', String.raw`"\u0078":1`],
  ])('C16: a body with %s is taken for what it says', async (_, fragment) => {
    const subject = open();
    const path = bindingPath(NOBODY, 'b');
    const rest = JSON.stringify(subject.offerFields).slice(1);
    const answer = await subject.osb.call({ method: 'PUT', path, body: `{${fragment},${rest}` });

    expect(answer.status).toBe(404);
  });

  it('C16, C65: parameters are ours, and so strict: an unknown one is 400 by its name', async () => {
    const subject = open();
    const instance = await subject.instance();
    const path = `${instancePath(NOBODY)}?accepts_incomplete=true`;
    const parameters = { ...subject.offer.parameters, unknownParameter: 1 };
    const body = subject.provisioning({ parameters });
    const provisioning = await subject.osb.call({ method: 'PUT', path, body });
    const bind = await subject.bind(instance, 'b', { parameters: { expirationSeconds: 900 } });

    expect([provisioning.status, bind.status]).toEqual([400, 400]);
    expect(provisioning.body['description']).toContain('unknownParameter');
    expect(bind.body['description']).toContain('expirationSeconds');
  });

  it('C16: unknown query values change nothing, not even twice', async () => {
    const { osb } = open();

    expect((await osb.call({ path: '/v2/catalog?unknown=1&unknown=2&constructor=' })).status).toBe(
      200,
    );
  });
}

function contentTypes(open: OpenSubject): void {
  /** Of a bind on an instance that does not exist: 404 once the body was taken. */
  const withType = async (type: string | undefined) => {
    const subject = open();
    const body = JSON.stringify(subject.offerFields);
    const headers = { 'content-type': type };
    return await subject.osb.call({ ...WITH_BODY[1], body, headers });
  };

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'Application/JSON',
    'application/json;',
  ])('C18: may be %s', async (type) => {
    expect((await withType(type)).status).toBe(404);
  });

  it('C19: may be missing', async () => {
    expect((await withType(undefined)).status).toBe(404);
  });

  it.each([
    'text/plain',
    'text/html',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'application/json-patch+json',
    'application/yaml',
    'application',
    'x',
    '*/*',
  ])('C19: must not be %s: 400, not 415', async (type) => {
    expect((await withType(type)).status).toBe(400);
  });
}

function typesWithoutBody(open: OpenSubject): void {
  it('C18: of every answer is JSON', async () => {
    const { headers } = await open().osb.call({ path: '/v2/catalog' });

    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded'])(
    'C21: %s without a body means nothing to GET and DELETE',
    async (type) => {
      const subject = open();
      const answers: number[] = [];
      for (const { call } of ROUTES) {
        const asked = call(subject);
        if (asked.body !== undefined) continue;
        const headers = { 'content-type': type };
        answers.push((await subject.osb.call({ ...asked, headers })).status);
      }

      expect(answers).toEqual([200, 404, 410, 404, 404, 410, 404]);
    },
  );

  it('C21: a body of DELETE means nothing either, whatever it is', async () => {
    const { osb, offerQuery } = open();
    const path = `${bindingPath(NOBODY, 'b')}?${offerQuery}`;
    for (const body of ['{}', 'null', '{']) {
      expect((await osb.call({ method: 'DELETE', path, body })).status).toBe(410);
    }
  });
}

function sizes(open: OpenSubject): void {
  const large = (subject: Subject) =>
    JSON.stringify({ ...subject.offerFields, padding: 'x'.repeat(1024 * 1024) });

  it('C22: that is larger than a megabyte is 413', async () => {
    expect(await statuses(open, large(open()))).toEqual([413, 413]);
  });

  it('C22: that is nearly as large is served', async () => {
    const subject = open();
    const body = { ...subject.offerFields, padding: 'x'.repeat(1000 * 1024) };

    expect((await subject.osb.call({ ...WITH_BODY[1], body })).status).toBe(404);
  });
}

function unmatched(open: OpenSubject): void {
  it.each([
    '/v2',
    '/v2/',
    '/v2/nothing',
    '/v2/service_instances',
    '/v2/service_instances/a/b',
    '/v2/service_instances/a/service_bindings',
    '/v2/service_instances/a/service_bindings/b/c',
    '/v2/service_instances/a/service_bindings/b/last_operation/c',
    '/v1/catalog',
    '/V2/catalog',
    '/v2/Catalog',
    '/v2/x/../catalog',
  ])('C22: to %s is 404', async (path) => {
    const { osb } = open();
    for (const method of ['GET', 'PUT', 'DELETE', 'POST']) {
      expect((await osb.call({ method, path })).status).toBe(404);
    }
  });

  it.each([
    ['/v2/catalog', ['PUT', 'PATCH', 'DELETE', 'POST']],
    ['/v2/service_instances/a', ['POST']],
    ['/v2/service_instances/a/last_operation', ['PUT', 'PATCH', 'DELETE', 'POST']],
    ['/v2/service_instances/a/service_bindings/b', ['PATCH', 'POST']],
    [
      '/v2/service_instances/a/service_bindings/b/last_operation',
      ['PUT', 'PATCH', 'DELETE', 'POST'],
    ],
  ])(
    'C22: to %s is 405 with another method, which is not among those that it allows',
    async (path, methods) => {
      const { osb, prefixes } = open();
      for (const prefix of prefixes) {
        for (const method of methods) {
          const answer = await osb.call({ method, path: prefix + path, body: {} });

          expect([method, answer.status]).toEqual([method, 405]);
          expect(answer.headers.allow?.split(', ')).not.toContain(method);
        }
      }
    },
  );
}

function silentHeaders(open: OpenSubject): void {
  it.each(['HEAD', 'OPTIONS', 'TRACE'])(
    'C23: with the method %s is 405: OSB has none of these',
    async (method) => {
      const { osb } = open();
      for (const path of ['/v2/catalog', '/v2/service_instances/a']) {
        expect((await osb.call({ method, path })).status).toBe(405);
      }
    },
  );

  it.each([
    '/v2/catalog/',
    '/v2/service_instances/a/',
    '//v2/catalog',
    '/v2//catalog',
    '/v2%2Fcatalog',
  ])('C23: to %s is refused, not redirected', async (path) => {
    const answer = await open().osb.call({ path });

    expect(answer.status).toBeOneOf([400, 404]);
    expect(answer.headers.location).toBeUndefined();
  });

  it('C23: from a page of another origin is told nothing that a browser would let it read', async () => {
    const { osb } = open();
    const preflight = { origin: 'https://a.example', 'access-control-request-method': 'PUT' };
    const answers = [
      await osb.call({ path: '/v2/catalog', headers: { origin: 'https://a.example' } }),
      await osb.call({ method: 'OPTIONS', path: '/v2/catalog', headers: preflight }),
    ];
    for (const { headers } of answers) {
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });

  it('C23: that expects what HTTP does not know is served as if it did not', async () => {
    const headers = { expect: 'the-unexpected' };

    expect((await open().osb.call({ path: '/v2/catalog', headers })).status).toBe(200);
  });

  it('C23: is not limited in its rate', async () => {
    const { osb } = open();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => osb.call({ path: '/v2/catalog' })),
    );

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
}
