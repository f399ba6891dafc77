// A local HTTPS server whose answers a test writes, for what a real API server will not do on demand: hang, cut,
// answer with something else. Each server has a CA of its own.

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import {
  createAuthority,
  issueServerCertificate,
  type KeyPair,
} from './real-parts/certificates.ts';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface HttpsServer {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string;
  readonly authority: KeyPair;
  /** Replaces how requests are answered from now on. */
  answerWith(answer: Answer): void;
  /** Method and path of every request so far. */
  readonly requests: readonly string[];
  /** Connections made so far. */
  connectionCount(): number;
  /** Closes the connections that no request is on, as an API server does after a while. */
  closeIdleConnections(): void;
  /** Cuts every connection. */
  stop(): Promise<void>;
}

export interface HttpsServerOptions {
  /** DNS names of its certificate; it always has 127.0.0.1 unless `ip` says otherwise. */
  readonly dns?: readonly string[];
  readonly ip?: readonly string[];
  /** Client certificates of this authority are asked for, and demanded of nobody. */
  readonly clientAuthority?: KeyPair;
}

export async function startHttpsServer(options: HttpsServerOptions = {}): Promise<HttpsServer> {
  const authority = await createAuthority('an HTTPS server');
  const names = { dns: options.dns ?? [], ip: options.ip ?? ['127.0.0.1'] };
  const { certPem, keyPem } = await issueServerCertificate(authority, names);
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let answer: Answer = (_, response) => response.end();
  let connections = 0;
  const server = createServer(
    {
      cert: certPem,
      key: keyPem,
      ...(options.clientAuthority === undefined
        ? {}
        : { ca: options.clientAuthority.certPem, requestCert: true, rejectUnauthorized: false }),
    },
    (request, response) => {
      requests.push(`${request.method} ${request.url}`);
      answer(request, response);
    },
  );
  server.on('secureConnection', (socket: TLSSocket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  // Only tests close connections here.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authority,
    answerWith(next) {
      answer = next;
    },
    requests,
    connectionCount: () => connections,
    closeIdleConnections: () => server.closeIdleConnections(),
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers every request with JSON. */
export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return (request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}
