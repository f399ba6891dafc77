import { describe, expect, it } from 'vitest';

import { CREDENTIALS, refusingServer, send } from '../../../tests/support/refusing-server.ts';

const INSTANCE = '/v2/service_instances/i-1';
const BINDING = `${INSTANCE}/service_bindings/b-1`;

/** All that OSB has; each of them with a form that would be refused next. */
const ENDPOINTS = [
  ['GET', '/v2/catalog'],
  ['PUT', INSTANCE],
  ['GET', INSTANCE],
  ['DELETE', INSTANCE],
  ['GET', `${INSTANCE}/last_operation`],
  ['PUT', BINDING],
  ['GET', BINDING],
  ['DELETE', BINDING],
  ['GET', `${BINDING}/last_operation`],
  ['PUT', `/oauth/v2/service_instances/${'x'.repeat(256)}`],
  ['GET', '/oauth/cf-eu10/v2/catalog'],
] as const;

describe.each(ENDPOINTS)('%s %s', (method, url) => {
  const { server } = refusingServer();
  const payload = method === 'PUT' ? '{' : undefined;
  const request = { method, url, ...(payload === undefined ? {} : { payload }) };

  it('is 401 without credentials, before anything else is looked at', async () => {
    const answer = await server.inject({
      ...request,
      headers: { 'x-broker-api-version': '1.0', 'x-broker-api-request-identity': 'r-1' },
    });

    expect(answer.statusCode).toBe(401);
    expect(answer.headers).toMatchObject({
      'www-authenticate': 'Basic realm="runtime-broker", charset="UTF-8"',
      'x-broker-api-request-identity': 'r-1',
    });
    expect(answer.json()).toEqual({ description: 'The request needs valid credentials.' });
  });

  it('KEB defect 23: a request is 412 without an API version, before its form is looked at', async () => {
    const answer = await server.inject({
      ...request,
      headers: { authorization: CREDENTIALS, 'x-broker-api-request-identity': 'r-1' },
    });

    expect(answer.statusCode).toBe(412);
    expect(answer.headers['x-broker-api-request-identity']).toBe('r-1');
    expect(answer.json()).toEqual({
      description: 'X-Broker-API-Version is missing; use 2.17, or any 2.x from 2.13 on.',
    });
  });
});

describe('the API version', () => {
  const { server } = refusingServer();

  async function statusFor(version: string | string[]): Promise<number> {
    const headers = { 'x-broker-api-version': version };
    const answer = await send(server, { method: 'GET', url: '/v2/catalog', headers });
    return answer.statusCode;
  }

  it.each(['2.13', '2.14', '2.17', '2.99', ' 2.17 '])('%j is served', async (version) => {
    expect(await statusFor(version)).toBe(200);
  });

  it.each(['', '2', '2.', '2.12', '1.9', '3.0', '12.17', 'abc', '2.17.1', '2.x', '-2.17'])(
    '%j is 412',
    async (version) => {
      expect(await statusFor(version)).toBe(412);
    },
  );

  it('may be given twice when both agree', async () => {
    expect(await statusFor('2.17, 2.17')).toBe(200);
    expect(await statusFor('2.17, 2.16')).toBe(400);
  });
});

describe('who is not known', () => {
  const { server } = refusingServer();

  it.each([
    ['GET', '/v2/nothing'],
    ['POST', '/v2/catalog'],
    ['PATCH', '/oauth/cf-eu10/v2/service_instances/i-1'],
  ] as const)('does not learn which routes there are: %s %s', async (method, url) => {
    const answer = await server.inject({ method, url });

    expect(answer.statusCode).toBe(401);
  });
});
