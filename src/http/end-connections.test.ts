import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';

import { type FastifyInstance, fastify } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';

import { until } from '../../tests/support/until.ts';
import { closeServer, endConnectionsOnClose } from './end-connections.ts';

/** No limit of a test's own: what waits for it fails by the test's. */
const NO_LIMIT_MS = 600_000;

interface Opened {
  readonly server: FastifyInstance;
  /** Opens a connection, sends that much of a request, and returns once it has left. */
  readonly send: (bytes: string) => Promise<Socket>;
  /** The request to /held that was taken up; it is answered by `release`. */
  readonly taken: Promise<void>;
  readonly release: () => void;
}

async function open(): Promise<Opened> {
  const server = fastify({ return503OnClosing: false });
  endConnectionsOnClose(server);
  const taken = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  server.get('/held', async () => {
    taken.resolve();
    await held.promise;
    return { answered: true };
  });
  server.post('/body', () => ({}));
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  const send = async (bytes: string): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    await new Promise<void>((resolve) => {
      socket.write(bytes, () => resolve());
    });
    return socket;
  };
  return { server, send, taken: taken.promise, release: held.resolve };
}

describe('a server that closes', () => {
  it.each([
    ['nothing', ''],
    ['half a head', 'GET /held HTTP/1.1\r\nHost: x\r\n'],
  ])('waits for no client that has sent %s', async (_, bytes) => {
    const { server, send } = await open();
    const socket = await send(bytes);

    await closeServer(server, NO_LIMIT_MS);
    await until({ what: 'its connection ends', limitMs: 10_000, isSo: () => socket.closed });
    expect(server.server.listening).toBe(false);
  });

  it('answers what it was asked, beside a client that asks nothing', async () => {
    const { server, send, taken, release } = await open();
    await send('');
    const asking = await send('GET /held HTTP/1.1\r\nHost: x\r\n\r\n');
    let answer = '';
    asking.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    await taken;

    const closed = closeServer(server, NO_LIMIT_MS);
    release();
    await closed;

    expect(answer).toContain('HTTP/1.1 200');
    expect(answer).toContain('{"answered":true}');
  });

  it.each([
    ['a request that takes longer', 'GET /held HTTP/1.1\r\nHost: x\r\n\r\n'],
    [
      'a body that does not come',
      'POST /body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    ],
  ])('cuts %s at its limit', async (_, bytes) => {
    const { server, send } = await open();
    const arrived = once(server.server, 'request');
    await send(bytes);
    await arrived;

    await closeServer(server, 50);
    expect(server.server.listening).toBe(false);
  });
});
