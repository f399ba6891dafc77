// How a server closes: it takes no more connections, answers what it was asked, and then ends the connections. Fastify
// ends those that are idle. One that was busy at that moment would be kept alive, and one that never sent a whole
// request would hold the server open for ever, since Node no longer looks for slow clients by then.
import type { FastifyInstance } from 'fastify';

/** What a request needs to arrive that was on its way when the server was told to close. */
const ARRIVAL_MS = 1_000;

/** To be called before routes are mounted; `closeServer` closes then. */
export function endConnectionsOnClose(server: FastifyInstance): void {
  let isClosing = false;
  let isArrivalOver = false;
  let answering = 0;
  const endWhatIsLeft = (): void => {
    if (isArrivalOver && answering === 0) {
      server.server.closeAllConnections();
    } else {
      server.server.closeIdleConnections();
    }
  };
  server.addHook('preClose', (done) => {
    isClosing = true;
    setTimeout(() => {
      isArrivalOver = true;
      endWhatIsLeft();
    }, ARRIVAL_MS).unref();
    done();
  });
  server.addHook('onRequest', (_request, reply, done) => {
    answering += 1;
    reply.raw.once('close', () => {
      answering -= 1;
      if (isClosing) {
        // A connection that is kept alive is idle from the next turn on.
        setImmediate(endWhatIsLeft);
      }
    });
    done();
  });
  server.addHook('onSend', (_request, reply, payload) => {
    if (isClosing) {
      void reply.header('Connection', 'close');
    }
    return Promise.resolve(payload);
  });
}

/** Returns once every request was answered and every connection ended; after `limitMs` they are cut. */
export async function closeServer(server: FastifyInstance, limitMs: number): Promise<void> {
  const limit = setTimeout(() => server.server.closeAllConnections(), limitMs);
  try {
    await server.close();
  } finally {
    clearTimeout(limit);
  }
}
