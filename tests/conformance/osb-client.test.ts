// The harness itself must be able to fail: a server that answers wrongly, and a ledger that a refusal has changed.

import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OsbClient } from './osb-client.ts';

interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

describe('the harness', () => {
  let server: Server;
  let reply: Reply;

  beforeAll(async () => {
    server = createServer((request, response) => answer(request.headers, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterAll(() => void server.close());

  function answer(given: Readonly<Record<string, unknown>>, response: ServerResponse): void {
    const identity = String(given['x-broker-api-request-identity']);
    response.writeHead(reply.status, {
      'content-type': 'application/json',
      'x-broker-api-request-identity': identity,
      ...reply.headers,
    });
    response.end(reply.body);
  }

  function client(dumps: readonly string[] = []): OsbClient {
    const left = [...dumps];
    return new OsbClient({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      username: 'broker',
      password: 'the-password',
      ledger:
        dumps.length === 0
          ? undefined
          : {
              dump: () => Promise.resolve({ instances: left.shift() ?? '' }),
              close: () => Promise.resolve(),
            },
    });
  }

  async function expectFault(given: Reply, fault: string, method = 'GET'): Promise<void> {
    reply = given;
    const path = '/v2/service_instances/i';
    await expect(client().call({ path, method })).rejects.toThrow(
      expect.objectContaining({ actual: expect.arrayContaining([fault]) as unknown }),
    );
  }

  const sentence = JSON.stringify({ description: 'A sentence for the user.' });

  it('takes an answer as it should be', async () => {
    reply = { status: 404, body: sentence };

    expect((await client().call({ path: '/' })).status).toBe(404);
  });

  it.each<[string, Reply]>([
    ['OSB knows no 204', { status: 204, body: '' }],
    ['OSB knows no 301', { status: 301, body: sentence }],
    ['the body is not a JSON object', { status: 200, body: '[]' }],
    ['the body is not a JSON object', { status: 400, body: '<html>' }],
    [
      'the body is not said to be JSON',
      { status: 200, body: '{}', headers: { 'content-type': 'text/plain' } },
    ],
    ['null is sent instead of leaving a field out', { status: 200, body: '{"a":null}' }],
    [
      'the request identity is not echoed',
      { status: 200, body: '{}', headers: { 'x-broker-api-request-identity': 'another' } },
    ],
    ['401 does not say how to authenticate', { status: 401, body: sentence }],
    ['405 does not say what is allowed', { status: 405, body: sentence }],
    ['503 does not say when to come back, in seconds', { status: 503, body: sentence }],
    ['OSB expects the body of 410 to be {}', { status: 410, body: sentence }],
    ['error is not one word in camel case', { status: 400, body: '{"error":""}' }],
    ['error is not one word in camel case', { status: 400, body: '{"error":"Two words"}' }],
    [
      'a 422 without a word makes platforms clean up what they should not',
      { status: 422, body: sentence },
    ],
    ['description is not a sentence', { status: 400, body: '{"description":""}' }],
    ['description is not a sentence', { status: 400, body: '{}' }],
    ['a failure has no field message', { status: 400, body: '{"message":"m"}' }],
    ['a failure has no field instance_usable', { status: 400, body: '{"instance_usable":true}' }],
    ['it repeats a credential', { status: 400, body: '{"description":"not the-password"}' }],
    ['it tells of a stack', { status: 500, body: '{"description":"at f (/a/b.ts:1:2) it"}' }],
    ['it tells of an address', { status: 500, body: '{"description":"no 10.0.0.1 there"}' }],
  ])('finds out that %s', async (fault, given) => {
    await expectFault(given, fault);
  });

  it('finds out that a refusal has changed the ledger', async () => {
    reply = { status: 400, body: sentence };

    await expect(client(['before', 'after']).call({ path: '/' })).rejects.toThrow('the ledger');
    expect((await client(['same', 'same']).call({ path: '/' })).status).toBe(400);
  });

  it('lets a success change it', async () => {
    reply = { status: 200, body: '{}' };

    expect((await client(['before', 'after']).call({ path: '/' })).status).toBe(200);
  });
});
