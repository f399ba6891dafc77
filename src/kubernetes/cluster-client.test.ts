import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';

import {
  type HttpsServer,
  type HttpsServerOptions,
  json,
  startHttpsServer,
} from '../../tests/support/https-server.ts';
import {
  createAuthority,
  issueClientCertificate,
} from '../../tests/support/real-parts/certificates.ts';
import { UpstreamError } from '../domain/errors.ts';
import { Secret } from '../domain/secret.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { type ClusterCall, ClusterClient, type ClusterLimits } from './cluster-client.ts';

const TOKEN = 'the-admin-token';

async function start(options: HttpsServerOptions = {}): Promise<HttpsServer> {
  const server = await startHttpsServer(options);
  onTestFinished(() => server.stop());
  return server;
}

function accessTo(server: HttpsServer): ClusterAccess {
  return {
    server: server.url,
    certificateAuthorityData: base64(server.authority.certPem),
    credential: { kind: 'token', token: new Secret(TOKEN) },
  };
}

function open(access: ClusterAccess, limits: Partial<ClusterLimits> = {}): ClusterClient {
  const client = new ClusterClient(access, { limits });
  onTestFinished(() => client.close());
  return client;
}

async function startAndOpen(
  limits: Partial<ClusterLimits> = {},
): Promise<{ server: HttpsServer; client: ClusterClient }> {
  const server = await start();
  return { server, client: open(accessTo(server), limits) };
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

const get: ClusterCall = {
  method: 'GET',
  path: '/api/v1/namespaces/kube-system',
  action: 'get namespaces',
  expect: ['Namespace'],
};
const post: ClusterCall = { ...get, method: 'POST', body: { a: 1 }, action: 'create namespaces' };

const namespace = { kind: 'Namespace', metadata: { name: 'kube-system' } };

/** The failure of the call; fails the test where there is none. */
async function failureOf(call: Promise<unknown>): Promise<UpstreamError> {
  const outcome: unknown = await call.then(
    () => new Error('the call succeeded'),
    (error: unknown) => error,
  );
  if (outcome instanceof UpstreamError) return outcome;
  throw outcome;
}

describe('a call of a cluster', () => {
  it('is answered by an object of the expected kind', async () => {
    const { server, client } = await startAndOpen();
    server.answerWith((_, response) => {
      response.setHeader('content-type', 'application/json; charset=utf-8');
      response.end(JSON.stringify(namespace));
    });
    expect(await client.request(get)).toEqual(namespace);
  });

  it.each([
    ['POST', 'application/json'],
    ['PATCH', 'application/merge-patch+json'],
    ['DELETE', 'application/json'],
  ] as const)('by %s carries its body as %s, and the token', async (method, contentType) => {
    const { server, client } = await startAndOpen();
    const seen: unknown[] = [];
    server.answerWith((request, response) => {
      const { authorization, 'content-type': type, accept } = request.headers;
      request.on('data', (body: Buffer) => seen.push(authorization, type, accept, String(body)));
      request.on('end', () => json(200, namespace)(request, response));
    });
    await client.request({ ...post, method });
    expect(seen).toEqual([`Bearer ${TOKEN}`, contentType, 'application/json', '{"a":1}']);
  });

  it('goes below the path of the address', async () => {
    const server = await start();
    server.answerWith(json(200, namespace));
    const client = open({ ...accessTo(server), server: `${server.url}/k8s/clusters/c-1/` });
    await client.request({ ...get, path: '/api?limit=1' });
    expect(server.requests).toEqual(['GET /k8s/clusters/c-1/api?limit=1']);
  });

  it('uses a connection of the calls before it', async () => {
    const { server, client } = await startAndOpen();
    server.answerWith(json(200, namespace));
    for (let calls = 0; calls < 10; calls += 1) await client.request(get);
    // A call that starts in the very moment in which another ends may find that one's connection still in use.
    expect(server.connectionCount()).toBeLessThanOrEqual(2);
  });

  it('waits for a connection where all are in use', async () => {
    const { server, client } = await startAndOpen({ connections: 3 });
    server.answerWith(json(200, namespace));
    await Promise.all(Array.from({ length: 20 }, () => client.request(get)));
    expect(server.connectionCount()).toBe(3);
    expect(server.requests).toHaveLength(20);
  });

  it('with a client certificate logs in by it', async () => {
    const clientAuthority = await createAuthority('clients');
    const { certPem, keyPem } = await issueClientCertificate(clientAuthority, { commonName: 'me' });
    const server = await start({ clientAuthority });
    const users: unknown[] = [];
    server.answerWith((request, response) => {
      users.push(peerOf(request), request.headers.authorization);
      json(200, namespace)(request, response);
    });
    const client = open({
      ...accessTo(server),
      credential: {
        kind: 'certificate',
        certificateData: base64(certPem),
        keyData: new Secret(base64(keyPem)),
      },
    });
    await client.request(get);
    await client.statusWith(new Secret('issued-token'), { path: '/api', action: 'ask' });
    expect(users).toEqual(['me', undefined, undefined, 'Bearer issued-token']);
  });
});

function peerOf({ socket }: IncomingMessage): unknown {
  if (!(socket instanceof TLSSocket)) throw new Error('no TLS');
  return (socket.getPeerCertificate() as { subject?: { CN: string } }).subject?.CN;
}

describe('a question with another token', () => {
  it('carries that token alone, and is answered by the status whatever it is', async () => {
    const { server, client } = await startAndOpen();
    const tokens: unknown[] = [];
    for (const status of [200, 401, 403, 500]) {
      server.answerWith((request, response) => {
        tokens.push(request.headers.authorization);
        json(status, { kind: 'SecretList', items: ['x'.repeat(100_000)] })(request, response);
      });
      const asked = client.statusWith(new Secret('issued'), { path: '/api', action: 'ask' });
      expect(await asked).toBe(status);
    }
    expect(new Set(tokens)).toEqual(new Set(['Bearer issued']));
  });
});

describe('an answer that is a refusal', () => {
  it.each([
    [400, 'invalid', false],
    [401, 'unauthorized', false],
    [403, 'forbidden', false],
    [404, 'not-found', false],
    [409, 'conflict', false],
    [422, 'invalid', false],
    [429, 'too-many-requests', true],
    [500, 'server-error', true],
    [503, 'server-error', true],
    [301, 'unexpected-status', false],
    [410, 'unexpected-status', false],
  ])('by %i is "%s"', async (status, reason, retryable) => {
    const { server, client } = await startAndOpen();
    server.answerWith(
      json(status, { kind: 'Status', message: 'because of this' }, { location: '/elsewhere' }),
    );
    const failure = await failureOf(client.request(get));
    expect(failure).toMatchObject({
      system: 'cluster',
      action: 'get namespaces',
      reason,
      status,
      retryable,
      message: `cluster: get namespaces: ${status} because of this`,
    });
    // No redirect is followed, and no refusal repeated.
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['a page', 'text/html', '<h1>404 page not found</h1>'],
    ['JSON that is no Status', 'application/json', '{"code":404}'],
    ['a Status that is no JSON', 'text/plain', '{"kind":"Status"}'],
  ])(
    '404 with %s says nothing of the object: it is no answer of an API server',
    async (_, contentType, body) => {
      const { server, client } = await startAndOpen();
      server.answerWith((request, response) => {
        response.writeHead(404, { 'content-type': contentType }).end(body);
      });
      const failure = await failureOf(client.request(get));
      expect(failure).toMatchObject({ reason: 'malformed-answer', status: 404, retryable: false });
    },
  );

  it.each<[string, Record<string, string>, number | undefined]>([
    ['seconds', { 'retry-after': '7' }, 7],
    [
      'a date',
      { 'retry-after': 'Mon, 04 May 2026 03:02:31 GMT', date: 'Mon, 04 May 2026 03:02:01 GMT' },
      30,
    ],
    [
      'a date that is over',
      { 'retry-after': 'Mon, 04 May 2026 03:02:01 GMT', date: 'Mon, 04 May 2026 03:02:31 GMT' },
      0,
    ],
    ['a year', { 'retry-after': '31536000' }, 86_400],
    ['something else', { 'retry-after': 'soon' }, undefined],
    ['nothing', {}, undefined],
  ])('may say when to come back, by %s', async (_, headers, seconds) => {
    const { server, client } = await startAndOpen();
    server.answerWith(json(429, { kind: 'Status' }, headers));
    expect((await failureOf(client.request(get))).retryAfterSeconds).toBe(seconds);
  });

  it('does not bring a token or a page into the log', async () => {
    const { server, client } = await startAndOpen();
    const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln';
    const message = `no such thing: ${jwt} Bearer ${TOKEN} ${'x'.repeat(1_000)}`;
    server.answerWith(json(400, { kind: 'Status', message }));
    const failure = await failureOf(client.request(get));
    expect(failure.message).toMatch(/400 no such thing: \[secret\] \[secret\] x+$/);
    expect(failure.message.length).toBeLessThan(350);

    server.answerWith((_, response) => {
      response.writeHead(502, { 'content-type': 'text/html' });
      response.end(`<h1>Bad gateway ${TOKEN}</h1>`);
    });
    expect((await failureOf(client.request(get))).message).toBe(
      'cluster: get namespaces: 502 text/html',
    );
  });
});

describe('an answer that is not what was promised', () => {
  it.each<[string, { type: string; body?: string }, string]>([
    ['a page', { type: 'text/html', body: '<html>' }, '200 with content type "text/html"'],
    ['JSON of no declared type', { type: '', body: '{}' }, '200 with content type ""'],
    [
      'text that is no JSON',
      { type: 'application/json', body: '{"kind":"Namespace"' },
      'the answer is not JSON',
    ],
    [
      'null',
      { type: 'application/json', body: 'null' },
      'the answer is of kind none, not Namespace',
    ],
    [
      'a list',
      { type: 'application/json', body: '[]' },
      'the answer is of kind none, not Namespace',
    ],
    [
      'another object',
      { type: 'application/json', body: '{"kind":"Pod"}' },
      'the answer is of kind Pod, not Namespace',
    ],
    ['nothing', { type: 'application/json' }, 'the answer is not JSON'],
  ])('like %s is malformed', async (_, { type, body }, detail) => {
    const { server, client } = await startAndOpen();
    server.answerWith((_, response) => {
      if (type !== '') response.setHeader('content-type', type);
      response.end(body);
    });
    const failure = await failureOf(client.request(get));
    expect(failure).toMatchObject({ reason: 'malformed-answer', retryable: false });
    expect(failure.message).toBe(`cluster: get namespaces: ${detail}`);
  });

  it('is not read beyond its bound', async () => {
    const { server, client } = await startAndOpen({ answerBytes: 10_000 });
    server.answerWith((_, response) => {
      response.setHeader('content-type', 'application/json');
      const write = (): void => {
        while (!response.destroyed && response.write('x'.repeat(1_000)));
      };
      response.on('drain', write);
      write();
    });
    expect((await failureOf(client.request(get))).reason).toBe('malformed-answer');
  });

  it('like another protocol is no answer at all', async () => {
    const tcp = createServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
    await once(tcp.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void tcp.close());
    const server = `https://127.0.0.1:${(tcp.address() as AddressInfo).port}`;
    const client = open({ server, credential: { kind: 'token', token: new Secret(TOKEN) } });
    expect((await failureOf(client.request(get))).reason).toBe('tls');
  });
});

describe('a call that gets no answer', () => {
  it('ends when no headers come', async () => {
    const { server, client } = await startAndOpen({ headersMs: 100 });
    server.answerWith(() => undefined);
    expect(await failureOf(client.request(get))).toMatchObject({
      reason: 'timed-out',
      retryable: true,
    });
  });

  it('ends when the body stops coming', async () => {
    const { server, client } = await startAndOpen({ bodyMs: 100 });
    server.answerWith((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.write('{"kind":');
    });
    expect((await failureOf(client.request(get))).reason).toBe('timed-out');
  });

  it('ends when its whole time is over, though something comes all the while', async () => {
    const { server, client } = await startAndOpen({ totalMs: 200 });
    server.answerWith((_, response) => {
      response.setHeader('content-type', 'application/json');
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip));
    });
    expect((await failureOf(client.request(get))).message).toBe(
      'cluster: get namespaces: no complete answer in time',
    );
  });

  it('ends when TLS is not agreed in time', async () => {
    const silent = createServer();
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void silent.close());
    const server = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const access: ClusterAccess = {
      server,
      credential: { kind: 'token', token: new Secret(TOKEN) },
    };
    const client = open(access, { connectMs: 100 });
    expect((await failureOf(client.request(get))).reason).toBe('timed-out');
  });

  it('ends when the caller says so, before or while it runs', async () => {
    const { server, client } = await startAndOpen();
    const abort = new AbortController();
    server.answerWith(() => abort.abort());
    const cancelled = { reason: 'cancelled', retryable: true };
    const call = { ...get, signal: abort.signal };
    expect(await failureOf(client.request(call))).toMatchObject(cancelled);
    expect(await failureOf(client.request(call))).toMatchObject(cancelled);
    expect(server.requests).toHaveLength(1);
  });

  it('ends when the connection is cut in the middle of the answer', async () => {
    const { server, client } = await startAndOpen();
    server.answerWith((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"kind":', () => response.destroy());
    });
    expect(await failureOf(client.request(get))).toMatchObject({ reason: 'cut', retryable: true });
    expect(server.requests).toHaveLength(1);
  });
});

describe('a connection that the server closes under a call', () => {
  it.each(['GET', 'PATCH', 'DELETE'] as const)('makes a %s go out once more', async (method) => {
    const { server, client } = await startAndOpen();
    let isFirst = true;
    server.answerWith((request, response) => {
      if (!isFirst) json(200, namespace)(request, response);
      else request.socket.destroy();
      isFirst = false;
    });
    expect(await client.request({ ...get, method })).toEqual(namespace);
    expect(server.requests).toHaveLength(2);
  });

  it('makes a GET go out no third time', async () => {
    const { server, client } = await startAndOpen();
    server.answerWith((request) => request.socket.destroy());
    expect((await failureOf(client.request(get))).reason).toBe('cut');
    expect(server.requests).toHaveLength(2);
  });

  it('ends a POST, which may have been carried out', async () => {
    const { server, client } = await startAndOpen();
    server.answerWith((request) => request.socket.destroy());
    expect((await failureOf(client.request(post))).reason).toBe('cut');
    expect(server.requests).toHaveLength(1);
  });

  it('is not used again where it was closed between two calls', async () => {
    const { server, client } = await startAndOpen();
    server.answerWith(json(200, namespace));
    await client.request(post);
    server.closeIdleConnections();
    await expect.poll(() => client.request(post).catch(() => undefined)).toBeDefined();
    expect(server.connectionCount()).toBe(2);
  });
});

describe('a server that cannot be reached or trusted', () => {
  it('is unreachable where nothing listens', async () => {
    const server = await startHttpsServer();
    const client = open(accessTo(server));
    await server.stop();
    expect(await failureOf(client.request(get))).toMatchObject({
      reason: 'unreachable',
      retryable: true,
    });
  });

  it('is unreachable where its name means nothing', async () => {
    const server = await start();
    const client = open({ ...accessTo(server), server: 'https://no-such-host.invalid' });
    expect((await failureOf(client.request(get))).reason).toBe('unreachable');
  });

  it('is not trusted with a certificate of another CA', async () => {
    const server = await start();
    const other = await createAuthority('another CA');
    const client = open({
      ...accessTo(server),
      certificateAuthorityData: base64(other.certPem),
    });
    expect(await failureOf(client.request(get))).toMatchObject({ reason: 'tls', retryable: false });
    expect(server.requests).toEqual([]);
  });

  it('is not trusted without a CA that is known, whatever the environment says', async () => {
    const server = await start();
    const { certificateAuthorityData: _, ...access } = accessTo(server);
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    onTestFinished(() => {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    });
    expect((await failureOf(open(access).request(get))).reason).toBe('tls');
  });

  it('must carry the name of its address, or the one that the access gives', async () => {
    const server = await start({ dns: ['kubernetes.default.svc'], ip: [] });
    server.answerWith(json(200, namespace));
    const access = accessTo(server);
    expect((await failureOf(open(access).request(get))).reason).toBe('tls');
    const client = open({ ...access, tlsServerName: 'kubernetes.default.svc' });
    expect(await client.request(get)).toEqual(namespace);
    const wrong = open({ ...access, tlsServerName: 'other.default.svc' });
    expect((await failureOf(wrong.request(get))).reason).toBe('tls');
  });

  it('is refused where the access itself cannot be used for TLS', async () => {
    const server = await start();
    const authority = await createAuthority('clients');
    const [one, other] = await Promise.all([
      issueClientCertificate(authority, { commonName: 'one' }),
      issueClientCertificate(authority, { commonName: 'other' }),
    ]);
    const credential = {
      kind: 'certificate',
      certificateData: base64(one.certPem),
      keyData: new Secret(base64(other.keyPem)),
    } as const;
    expect(() => new ClusterClient({ ...accessTo(server), credential })).toThrow(UpstreamError);
  });
});

describe('a client that is closed', () => {
  it('lets the calls end that are in flight, and makes no further one', async () => {
    const { server, client } = await startAndOpen();
    const arrived = Promise.withResolvers<() => void>();
    server.answerWith((request, response) => {
      arrived.resolve(() => json(200, namespace)(request, response));
    });
    const inFlight = client.request(get);
    const answer = await arrived.promise;
    const closed = client.close();
    expect((await failureOf(client.request(get))).reason).toBe('cancelled');
    answer();
    expect(await inFlight).toEqual(namespace);
    await closed;
  });
});
