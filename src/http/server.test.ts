import { describe, expect, it } from 'vitest';

import {
  CREDENTIALS,
  PLATFORM_HEADERS,
  refusingServer,
  send,
  unreachedBroker,
} from '../../tests/support/refusing-server.ts';
import { createLogger } from '../observability/logger.ts';
import type { FiguresReading, Readiness } from '../background/status.ts';
import { closedAuthenticator } from './auth/closed.ts';
import { createOperatorServer } from './server.ts';

describe('an unmatched request', () => {
  const { server } = refusingServer();

  it.each([
    ['POST', '/v2/catalog', 'GET'],
    ['HEAD', '/v2/catalog', 'GET'],
    ['OPTIONS', '/v2/service_instances/i', 'PUT, GET, PATCH, DELETE'],
    ['POST', '/v2/service_instances/a%2Fb', 'PUT, GET, PATCH, DELETE'],
    ['POST', '/oauth/cf-eu10/v2/service_instances/i/service_bindings/b', 'PUT, GET, DELETE'],
    ['DELETE', '/v2/service_instances/i/last_operation?x=1', 'GET'],
  ] as const)(
    'with another method is 405 and names the right ones: %s %s',
    async (method, url, allow) => {
      const answer = await send(server, { method, url, payload: '{' });

      expect([answer.statusCode, answer.headers.allow]).toEqual([405, allow]);
      // An answer to HEAD has no body.
      expect(answer.body).toBe(
        method === 'HEAD' ? '' : `{"description":"The route does not take ${method}."}`,
      );
    },
  );

  it.each(['/v2/nothing', '/oauth/v2', '/nothing', '/healthz', '/readyz'])(
    'on no route is 404: %s',
    async (url) => {
      const answer = await send(server, { method: 'GET', url });

      expect([answer.statusCode, answer.json()]).toEqual([
        404,
        { description: 'There is no such route.' },
      ]);
    },
  );
});

describe('the request identity', () => {
  it.each([
    [200, 'GET', '/v2/catalog'],
    [400, 'PUT', '/v2/service_instances/i'],
    [400, 'GET', '/v2/service_instances/%zz'],
    [404, 'GET', '/v2/nothing'],
    [404, 'GET', '/nothing'],
    [405, 'POST', '/v2/catalog'],
    [500, 'GET', '/v2/service_instances/i'],
  ] as const)('comes back with %i, and is in the log', async (status, method, url) => {
    const { server, log } = refusingServer();
    const headers = { 'x-broker-api-request-identity': 'e26cee84-6b38-4456-b34e-d1a9f002c956' };
    const answer = await send(server, { method, url, headers });

    expect(answer.statusCode).toBe(status);
    expect(answer.headers['x-broker-api-request-identity']).toBe(
      'e26cee84-6b38-4456-b34e-d1a9f002c956',
    );
    expect(log().at(-1)).toMatchObject({
      status,
      requestIdentity: 'e26cee84-6b38-4456-b34e-d1a9f002c956',
    });
  });

  it('KEB defect 23: a request identity is not invented where there is none', async () => {
    const { server, log } = refusingServer();
    const answer = await send(server, { method: 'GET', url: '/v2/catalog' });

    expect(answer.headers).not.toHaveProperty('x-broker-api-request-identity');
    expect(log().at(-1)).not.toHaveProperty('requestIdentity');
  });

  it('goes into the log without what could forge a line, and not without end', async () => {
    const { server, log } = refusingServer();
    const identity = `a\u0085\tb${'c'.repeat(500)}`;
    const headers = { 'x-broker-api-request-identity': identity };
    const answer = await send(server, { method: 'GET', url: '/v2/catalog', headers });

    expect(answer.headers['x-broker-api-request-identity']).toBe(identity);
    expect(log().at(-1)?.['requestIdentity']).toBe(`ab${'c'.repeat(126)}`);
  });
});

describe('the log line of a request', () => {
  it('names route, ids, status and time, and nothing that was sent besides', async () => {
    const { server, log } = refusingServer();
    const url = '/v2/service_instances/i-1/service_bindings/b-1?service_id=query-value';
    await send(server, { method: 'PUT', url, payload: { plan_id: 'body-value' } });

    expect(log()).toHaveLength(1);
    expect(log()[0]).toEqual({
      level: 'info',
      time: expect.any(String) as unknown,
      method: 'PUT',
      route: '/v2/service_instances/:instance_id/service_bindings/:binding_id',
      status: 400,
      durationMs: expect.any(Number) as unknown,
      instanceId: 'i-1',
      bindingId: 'b-1',
      msg: 'request',
    });
  });

  it('of a failure of ours stands beside its cause', async () => {
    const { server, log } = refusingServer();
    const answer = await send(server, { method: 'GET', url: '/v2/service_instances/i-1' });

    expect(answer.json()).toEqual({
      description: 'The broker failed to serve the request. Its log says why.',
    });
    expect(log()[0]).toMatchObject({
      level: 'error',
      route: '/v2/service_instances/:instance_id',
      err: { type: 'Error', message: 'the broker was reached: db' },
    });
  });
});

describe('the gate', () => {
  it.each([
    ['a route', '/v2/catalog', PLATFORM_HEADERS],
    ['a route without credentials', '/v2/catalog', {}],
    ['no route', '/nothing', {}],
    ['no URL', '/v2/%zz', {}],
  ])('lets nobody in while the broker cannot serve: %s', async (_, url, headers) => {
    const { server } = refusingServer({ isServing: () => false });
    const answer = await server.inject({ method: 'GET', url, headers });

    expect([answer.statusCode, answer.headers['retry-after'], answer.json()]).toEqual([
      503,
      '5',
      { description: 'The broker cannot serve requests at the moment. Try again later.' },
    ]);
  });

  it('opens by itself', async () => {
    let isServing = false;
    const { server } = refusingServer({ isServing: () => isServing });
    const ask = () => send(server, { method: 'GET', url: '/v2/catalog' });

    expect((await ask()).statusCode).toBe(503);
    isServing = true;
    expect((await ask()).statusCode).toBe(200);
  });
});

describe('the probes', () => {
  const log = createLogger({ level: 'silent', format: 'json' }, { write: () => undefined });
  const ALL_WELL = { database: 'ok', clock: 'ok', jobs: 'ok' } as const;

  function operatorServer(
    readiness: () => Promise<Readiness>,
    figures: FiguresReading = () => Promise.resolve(undefined),
  ) {
    return createOperatorServer({
      authenticator: closedAuthenticator(),
      isServing: () => false,
      broker: unreachedBroker(),
      log,
      versions: { version: '0.0.0', node: '0.0.0' },
      readiness,
      figures,
    });
  }

  const wellServer = (figures?: FiguresReading) =>
    operatorServer(() => Promise.resolve({ checks: ALL_WELL, warnings: [] }), figures);

  it('say that the process lives, whatever is away', async () => {
    const server = operatorServer(() => Promise.reject(new Error('away')));
    const answer = await server.inject('/healthz');

    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok' }]);
  });

  it('say when requests can be sent, with warnings that do not stop them', async () => {
    const warnings = ['A variable is not read.'];
    const server = operatorServer(() => Promise.resolve({ checks: ALL_WELL, warnings }));
    const answer = await server.inject('/readyz');

    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({ status: 'ready', checks: ALL_WELL, warnings });
  });

  it.each(['database', 'clock', 'jobs'] as const)('say 503 while %s is failing', async (name) => {
    const checks = { ...ALL_WELL, [name]: 'failing' } as const;
    const server = operatorServer(() => Promise.resolve({ checks, warnings: [] }));
    const answer = await server.inject('/readyz');

    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toEqual({ status: 'not ready', checks, warnings: [] });
  });

  it('tell figures as Prometheus reads them, and none while there are none', async () => {
    const gauge = { name: 'runtime_broker_a', help: 'What a is.', value: 3 };
    const told = await wellServer(() => Promise.resolve([gauge])).inject('/metrics');
    const none = await wellServer().inject('/metrics');

    expect(told.statusCode).toBe(200);
    expect(told.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(told.body).toContain('\nruntime_broker_a 3\n');
    expect([none.statusCode, none.body]).toEqual([503, '']);
  });

  it('have no OSB beside them, and no other method', async () => {
    const server = wellServer();
    const headers = { authorization: CREDENTIALS, 'x-broker-api-version': '2.17' };
    const catalog = await server.inject({ url: '/v2/catalog', headers });
    const post = await server.inject({ method: 'POST', url: '/readyz' });

    expect(catalog.statusCode).toBe(404);
    expect([post.statusCode, post.headers.allow]).toEqual([405, 'GET']);
  });
});
