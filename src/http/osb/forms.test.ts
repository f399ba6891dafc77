import { describe, expect, it } from 'vitest';

import { refusingServer, send } from '../../../tests/support/refusing-server.ts';

const INSTANCE = '/v2/service_instances/i-1';
const BINDING = `${INSTANCE}/service_bindings/b-1`;

const OFFER = { service_id: 's', plan_id: 'p' };
const PROVISION = { ...OFFER, organization_guid: 'o', space_guid: 's' };

function nested(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}

describe('a body of the wrong form', () => {
  const { server } = refusingServer();

  it.each([
    ['nothing', '', 'The body must be a JSON object.'],
    ['null', 'null', 'The body must be a JSON object.'],
    ['a list', '[]', 'The body must be a JSON object.'],
    ['a text', '"text"', 'The body must be a JSON object.'],
    ['half of it', '{"service_id":', 'The body must be valid JSON in UTF-8.'],
    ['two', '{}{}', 'The body must be valid JSON in UTF-8.'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'The body must be valid JSON in UTF-8.'],
    ['too deep', nested(65), 'The body must not be nested deeper than 64 levels.'],
    [
      'a NUL in a text',
      String.raw`{"parameters":{"name":"a\u0000"}}`,
      'The body must not contain NUL characters or unpaired surrogates.',
    ],
    [
      'half a character in a key',
      String.raw`{"parameters":{"\ud800":1}}`,
      'The body must not contain NUL characters or unpaired surrogates.',
    ],
  ])(
    'KEB defect 23: none, or no JSON object, is 400 for every route that needs one: %s',
    async (_, payload, description) => {
      const headers = { 'content-type': 'application/json' };
      const routes = [
        ['PUT', INSTANCE],
        ['PATCH', INSTANCE],
        ['PUT', BINDING],
      ] as const;
      for (const [method, url] of routes) {
        const answer = await send(server, { method, url, headers, payload });

        expect([answer.statusCode, answer.json()]).toEqual([400, { description }]);
      }
    },
  );

  it.each([
    ['service_id missing', { service_id: undefined }, 'The body must have service_id.'],
    ['service_id null', { service_id: null }, 'service_id must be of type string.'],
    ['service_id a number', { service_id: 1 }, 'service_id must be of type string.'],
    ['service_id empty', { service_id: '' }, 'service_id must not be empty.'],
    ['plan_id missing', { plan_id: undefined }, 'The body must have plan_id.'],
    ['plan_id a list', { plan_id: ['p'] }, 'plan_id must be of type string.'],
    [
      'organisation missing',
      { organization_guid: undefined },
      'The body must have organization_guid.',
    ],
    ['organisation empty', { organization_guid: '' }, 'organization_guid must not be empty.'],
    ['space missing', { space_guid: undefined }, 'The body must have space_guid.'],
    ['context a text', { context: 'cf' }, 'context must be of type object.'],
    ['platform a number', { context: { platform: 1 } }, 'context.platform must be of type string.'],
    [
      'an account that is no text',
      { context: { globalaccount_id: {} } },
      'context.globalaccount_id must be of type string.',
    ],
    ['parameters a list', { parameters: [] }, 'parameters must be of type object.'],
    ['parameters a text', { parameters: '{}' }, 'parameters must be of type object.'],
    [
      'a version that is no text',
      { maintenance_info: { version: 1 } },
      'maintenance_info.version must be of type string.',
    ],
    [
      'maintenance without its version',
      { maintenance_info: {} },
      'The body must have maintenance_info.version.',
    ],
    [
      'an account of 256 characters',
      { context: { globalaccount_id: '😀'.repeat(256) } },
      'context.globalaccount_id must not be longer than 255 characters.',
    ],
    [
      'a subaccount too long',
      { context: { subaccount_id: 'a'.repeat(3000) } },
      'context.subaccount_id must not be longer than 255 characters.',
    ],
    [
      'a user too long',
      { context: { user_id: 'a'.repeat(256) } },
      'context.user_id must not be longer than 255 characters.',
    ],
  ])('of an instance is refused: %s', async (_, fields, description) => {
    const payload = { ...PROVISION, ...fields };
    const answer = await send(server, { method: 'PUT', url: INSTANCE, payload });

    expect([answer.statusCode, answer.json()]).toEqual([400, { description }]);
  });

  it.each([
    ['service_id missing', { service_id: undefined }, 'The body must have service_id.'],
    ['service_id empty', { service_id: '' }, 'service_id must not be empty.'],
    ['plan_id empty', { plan_id: '' }, 'plan_id must not be empty.'],
    ['plan_id a number', { plan_id: 1 }, 'plan_id must be of type string.'],
    ['active a text', { context: { active: 'false' } }, 'context.active must be of type boolean.'],
    ['active a number', { context: { active: 0 } }, 'context.active must be of type boolean.'],
    ['parameters a list', { parameters: [] }, 'parameters must be of type object.'],
    [
      'a user too long',
      { context: { user_id: 'a'.repeat(256) } },
      'context.user_id must not be longer than 255 characters.',
    ],
    [
      'maintenance without its version',
      { maintenance_info: {} },
      'The body must have maintenance_info.version.',
    ],
  ])('C87: of an update is refused: %s', async (_, fields, description) => {
    const payload = { service_id: 's', ...fields };
    const answer = await send(server, { method: 'PATCH', url: INSTANCE, payload });

    expect([answer.statusCode, answer.json()]).toEqual([400, { description }]);
  });

  it.each([
    ['service_id missing', { service_id: undefined }, 'The body must have service_id.'],
    ['plan_id empty', { plan_id: '' }, 'plan_id must not be empty.'],
    ['bind_resource a text', { bind_resource: 'x' }, 'bind_resource must be of type object.'],
    ['app_guid a number', { app_guid: 1 }, 'app_guid must be of type string.'],
    ['email a number', { context: { email: 1 } }, 'context.email must be of type string.'],
    [
      'email too long',
      { context: { email: 'a'.repeat(256) } },
      'context.email must not be longer than 255 characters.',
    ],
    [
      'origin too long',
      { context: { origin: 'a'.repeat(256) } },
      'context.origin must not be longer than 255 characters.',
    ],
    [
      'a misspelt key, which must not mean the default',
      { parameters: { expirationSeconds: 600 } },
      'parameters.expirationSeconds is not known.',
    ],
    [
      'a key of JavaScript',
      JSON.parse('{"parameters":{"__proto__":{}}}') as object,
      'parameters.__proto__ is not known.',
    ],
    [
      'seconds as a text',
      { parameters: { expiration_seconds: '600' } },
      'parameters.expiration_seconds must be of type integer.',
    ],
    [
      'half a second',
      { parameters: { expiration_seconds: 600.5 } },
      'parameters.expiration_seconds must be of type integer.',
    ],
    [
      'seconds as a list',
      { parameters: { expiration_seconds: [600] } },
      'parameters.expiration_seconds must be of type integer.',
    ],
    [
      'a predecessor',
      { predecessor_binding_id: 'b-0' },
      'predecessor_binding_id is not supported: bindings are not rotated.',
    ],
  ])('of a binding is refused: %s', async (_, fields, description) => {
    const payload = { ...OFFER, ...fields };
    const answer = await send(server, { method: 'PUT', url: BINDING, payload });

    expect([answer.statusCode, answer.json()]).toEqual([400, { description }]);
  });

  it('is refused when it is too large, with a JSON object too', async () => {
    const payload = { ...PROVISION, parameters: { kubeconfig: 'x'.repeat(1024 * 1024) } };
    const answer = await send(server, { method: 'PUT', url: INSTANCE, payload });

    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toEqual({ description: 'The body is larger than 1 MiB.' });
  });

  it('is not quoted, since it may hold a credential', async () => {
    const bodies = ['{"kubeconfig": hunter2}', '{"service_id":{"token":"hunter2"}}', 'hunter2'];
    for (const payload of bodies) {
      const headers = { 'content-type': 'application/json' };
      const answer = await send(server, { method: 'PUT', url: INSTANCE, headers, payload });

      expect(answer.statusCode).toBe(400);
      expect(answer.body).not.toContain('hunter2');
    }
  });
});

describe('a content type', () => {
  const { server } = refusingServer();
  // A body that gets as far as its schema, to see that it was parsed.
  const payload = '{"service_id":"s"}';

  it.each([
    ['application/json'],
    ['application/json; charset=utf-8'],
    ['Application/JSON;charset=UTF-8'],
    [undefined],
  ])('of JSON, or none at all, is read as JSON: %s', async (type) => {
    const headers = type === undefined ? {} : { 'content-type': type };
    const answer = await send(server, { method: 'PUT', url: INSTANCE, headers, payload });

    expect(answer.json()).toEqual({ description: 'The body must have plan_id.' });
  });

  it.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['application/jsonp'],
    ['application/merge-patch+json'],
    ['nonsense'],
    ['a/b/c'],
  ])('of something else is 400, never 415: %s', async (type) => {
    const headers = { 'content-type': type };
    const answer = await send(server, { method: 'PUT', url: INSTANCE, headers, payload });

    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      { description: 'The body must be application/json.' },
    ]);
  });

  it.each([
    ['DELETE', 'application/json', ''],
    ['DELETE', 'application/json', '{'],
    ['DELETE', 'text/plain', 'text'],
    ['GET', 'application/json', ''],
  ] as const)('means nothing with %s (%s %j)', async (method, type, body) => {
    const url = method === 'GET' ? '/v2/catalog' : INSTANCE;
    const headers = { 'content-type': type };
    const answer = await send(server, { method, url, headers, payload: body });

    expect(answer.statusCode).toBe(method === 'GET' ? 200 : 400);
    expect(answer.body).not.toContain('The body');
  });
});

describe('a query of DELETE', () => {
  const { server } = refusingServer();

  it.each([
    ['nothing', ''],
    ['no plan', '?service_id=s'],
    ['no service', '?plan_id=p'],
    ['an empty plan', '?service_id=s&plan_id='],
    ['a service twice', '?service_id=s&service_id=t&plan_id=p'],
  ])('is refused before anybody asks what exists: %s', async (_, query) => {
    for (const url of [INSTANCE, BINDING]) {
      const answer = await send(server, { method: 'DELETE', url: `${url}${query}` });

      expect([answer.statusCode, answer.json()]).toEqual([
        400,
        { description: 'The query must have service_id and plan_id, each once and not empty.' },
      ]);
    }
  });
});
