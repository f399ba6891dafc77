import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { CREDENTIALS, refusingServer } from '../../../tests/support/refusing-server.ts';

// Over a real socket: clients and test doubles clean up URLs before they send them.

const refusing = refusingServer();
let port = 0;

beforeAll(async () => {
  await refusing.server.listen({ host: '127.0.0.1', port: 0 });
  port = (refusing.server.server.address() as AddressInfo).port;
});

afterAll(async () => {
  await refusing.server.close();
});

interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: unknown;
}

/** Sends bytes as they are, and reads until the server hangs up. */
async function sendRaw(bytes: string | Buffer): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) {
    chunks.push(chunk as Buffer);
  }
  const [head = '', body = ''] = Buffer.concat(chunks).toString('utf8').split('\r\n\r\n');
  return {
    status: Number(head.split(' ')[1]),
    head,
    body: body === '' ? undefined : (JSON.parse(body) as unknown),
  };
}

const HEADERS = [
  'Host: broker',
  `Authorization: ${CREDENTIALS}`,
  'X-Broker-API-Version: 2.17',
  'X-Broker-API-Request-Identity: r-1',
  'Connection: close',
];

function request(target: string, method = 'PUT', headers: readonly string[] = HEADERS): Buffer {
  const body = method === 'PUT' ? ['Content-Length: 2', '', '{}'] : ['', ''];
  const text = [`${method} ${target} HTTP/1.1`, ...headers, ...body].join('\r\n');
  return Buffer.from(text, 'utf8');
}

/** Refused for its empty body and nothing before it, so the path was taken; the log shows how it was read. */
async function idsReadFrom(target: string) {
  const { body } = await sendRaw(request(target));
  expect(body).toEqual({ description: 'The body must have service_id.' });
  const { instanceId, bindingId } = refusing.log().at(-1) ?? {};
  return { instanceId, bindingId };
}

describe('an id in the path', () => {
  it.each([
    ['a GUID', '9d3c2a10-0000-4000-8000-000000000000', '9d3c2a10-0000-4000-8000-000000000000'],
    ['a slash', 'a%2Fb', 'a/b'],
    ['a lower-case escape', 'a%2fb', 'a/b'],
    ['what looks like a way out', '..%2F..%2Fetc', '../../etc'],
    ['dots among others', '...', '...'],
    ['an escaped percent sign, decoded once', 'a%252Fb', 'a%2Fb'],
    ['an escaped dot, decoded once', '%252e%252e', '%2e%2e'],
    ['a blank', 'a%20b', 'a b'],
    ['a plus, which is a plus in a path', 'a+b', 'a+b'],
    ['an escaped plus', 'a%2Bb', 'a+b'],
    ['delimiters', 'a%3Fb%23c%3Bd%26e%3Df', 'a?b#c;d&e=f'],
    ['a semicolon', 'a;b=c', 'a;b=c'],
    ['a colon and an at sign', 'a:b@c', 'a:b@c'],
    ['UTF-8', '%C3%A4%E2%82%AC%F0%9F%98%80', 'ä€😀'],
    ['a word of JavaScript', '__proto__', '__proto__'],
    ['a star', '*', '*'],
    ['an escaped line break', 'a%0Ab', 'ab'],
  ])('may be %s', async (_, encoded, id) => {
    expect(await idsReadFrom(`/v2/service_instances/${encoded}`)).toEqual({ instanceId: id });
    expect(
      await idsReadFrom(
        `/oauth/cf-eu10/v2/service_instances/${encoded}/service_bindings/${encoded}`,
      ),
    ).toEqual({ instanceId: id, bindingId: id });
  });

  it('may have 255 code points, each of them twelve characters on the wire', async () => {
    const longest = '%F0%9F%98%80'.repeat(255);

    const ids = await idsReadFrom(`/v2/service_instances/${longest}/service_bindings/${longest}`);

    expect(ids).toMatchObject({ instanceId: expect.stringMatching(/^(😀)+/u) as unknown });
  });

  it.each([
    ['nothing', '', 'must not be empty'],
    ['a dot', '.', 'must not be "." or ".."'],
    ['two dots', '..', 'must not be "." or ".."'],
    ['escaped dots', '%2e%2E', 'must not be "." or ".."'],
    ['256 code points', 'x'.repeat(256), 'must not be longer than 255 characters'],
    [
      '256 code points of four bytes',
      '%F0%9F%98%80'.repeat(256),
      'must not be longer than 255 characters',
    ],
  ])('must not be %s', async (_, encoded, fault) => {
    const instance = await sendRaw(request(`/v2/service_instances/${encoded}`));
    const binding = await sendRaw(request(`/v2/service_instances/i/service_bindings/${encoded}`));
    const between = await sendRaw(request(`/v2/service_instances/${encoded}/service_bindings/b`));

    expect(instance).toMatchObject({
      status: 400,
      body: { description: `The instance_id in the path ${fault}.` },
    });
    expect(binding).toMatchObject({
      status: 400,
      body: { description: `The binding_id in the path ${fault}.` },
    });
    expect(between).toMatchObject({ status: 400, body: instance.body });
  });

  it.each([
    ['no digits', '%zz'],
    ['a lone percent sign', 'a%'],
    ['half a sequence', 'a%2'],
    ['a byte that UTF-8 does not have', '%FF'],
    ['half a character', '%C3'],
    ['a slash written too long', '%C0%AF'],
    ['a surrogate', '%ED%A0%80'],
    ['a fault behind a good one', 'a%2Fb%zz'],
  ])('must be valid UTF-8 in valid percent sequences: %s', async (_, encoded) => {
    for (const target of [
      `/v2/service_instances/${encoded}`,
      `/v2/service_instances/i?x=${encoded}`,
    ]) {
      const answer = await sendRaw(request(target));

      expect(answer).toMatchObject({
        status: 400,
        body: { description: 'The URL has a percent sequence that is not valid UTF-8.' },
      });
      expect(answer.head.toLowerCase()).toContain('x-broker-api-request-identity: r-1');
    }
  });

  it.each([
    [
      'a NUL in the path',
      '/v2/service_instances/a%00',
      'The URL must not contain a NUL character.',
    ],
    [
      'a NUL in the query',
      '/v2/service_instances/a?operation=%00',
      'The URL must not contain a NUL character.',
    ],
  ])('must not carry %s', async (_, target, description) => {
    expect(await sendRaw(request(target))).toMatchObject({ status: 400, body: { description } });
  });

  it('is no secret to be learned: without credentials a broken URL is 401 too', async () => {
    const strangers = HEADERS.filter((header) => !header.startsWith('Authorization'));
    const answer = await sendRaw(request('/v2/service_instances/%zz', 'PUT', strangers));

    expect(answer.status).toBe(401);
    expect(answer.head.toLowerCase()).toContain('www-authenticate: basic');
  });
});

describe('a path that is no route', () => {
  it.each([
    ['a double slash', '//v2/catalog'],
    ['a double slash inside', '/v2//catalog'],
    ['a slash at the end', '/v2/catalog/'],
    ['another case', '/V2/catalog'],
    ['a way back', '/v2/x/../catalog'],
    ['an escaped slash', '/v2%2Fcatalog'],
    ['nothing', '/'],
    ['a mount alone', '/v2'],
    ['a list of instances', '/v2/service_instances'],
    ['more than an id', '/v2/service_instances/a/b'],
    ['a region too long', `/oauth/${'r'.repeat(200)}/v2/nothing`],
  ])('is 404 in the form of all errors, and no redirect: %s', async (_, target) => {
    const answer = await sendRaw(request(target, 'GET'));

    expect(answer).toMatchObject({ status: 404, body: { description: 'There is no such route.' } });
    expect(answer.head.toLowerCase()).not.toContain('location:');
  });

  it('is 400 when its region is none', async () => {
    expect(await sendRaw(request('/oauth/a%2Fb/v2/service_instances/i'))).toMatchObject({
      status: 400,
      body: { description: 'The region in the path must be up to 63 letters, digits and dashes.' },
    });
  });
});

describe('what is not HTTP', () => {
  it.each([
    ['nonsense', 'nonsense\r\n\r\n', 400],
    ['UTF-8 as it is', request('/v2/service_instances/ä'), 400],
    ['a head without end', request(`/v2/catalog?${'x'.repeat(17_000)}`, 'GET'), 431],
    [
      'two lengths',
      'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
    ],
  ])('is answered in the form of all errors: %s', async (_, bytes, status) => {
    const answer = await sendRaw(bytes);

    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      description: 'The request is not well-formed HTTP, or too slow.',
    });
  });
});

describe('an expectation that HTTP does not know', () => {
  it('is passed over, and the request checked and answered as any other', async () => {
    const expectation = 'Expect: the-unexpected';
    const friend = await sendRaw(request('/v2/nothing', 'GET', [...HEADERS, expectation]));
    const stranger = ['Host: broker', 'Connection: close', expectation];

    expect(friend).toMatchObject({ status: 404, body: { description: 'There is no such route.' } });
    expect((await sendRaw(request('/v2/catalog', 'GET', stranger))).status).toBe(401);
  });
});
