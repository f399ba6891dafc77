// Stands between a client and a server, and can go silent as a network does: nothing is refused, nothing arrives.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Secret } from '../../../src/domain/secret.ts';

export interface FreezingProxy {
  readonly url: string;
  /** Bytes are taken and not passed on, in both directions; new connections are accepted. */
  freeze(): void;
  /** What was swallowed meanwhile stays lost. */
  thaw(): void;
  stop(): Promise<void>;
}

export async function startFreezingProxy(target: Secret): Promise<FreezingProxy> {
  const to = new URL(target.reveal());
  const sockets = new Set<Socket>();
  const state = { isFrozen: false };
  const pass = (from: Socket, into: Socket) => {
    sockets.add(from);
    from.on('error', () => undefined);
    from.on('close', () => into.destroy());
    from.on('data', (data) => {
      if (!state.isFrozen) {
        into.write(data);
      }
    });
  };
  const server = createServer((client) => {
    const upstream = connect(Number(to.port), to.hostname);
    pass(client, upstream);
    pass(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = new URL(to);
  url.port = String(typeof address === 'object' ? address?.port : '');
  return {
    url: url.href,
    freeze() {
      state.isFrozen = true;
    },
    thaw() {
      state.isFrozen = false;
    },
    async stop() {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
      await once(server, 'close');
    },
  };
}
