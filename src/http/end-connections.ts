// Lets a server that is to close end its connections as soon as the requests on them are answered. Fastify closes those
// that are idle; one that was busy at that moment would be kept alive, and hold up the end for over a minute.
import type { FastifyInstance } from 'fastify';

export function endConnectionsOnClose(server: FastifyInstance): void {
  let isClosing = false;
  server.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });
  server.addHook('onSend', (_request, reply, payload) => {
    if (isClosing) {
      void reply.header('Connection', 'close');
    }
    return Promise.resolve(payload);
  });
  server.addHook('onResponse', (_request, _reply, done) => {
    if (isClosing) {
      // For an answer whose head was written just before: its connection is idle from the next turn on.
      setImmediate(() => server.server.closeIdleConnections());
    }
    done();
  });
}
