// A proxy in front of a real API server that misbehaves on demand: it refuses, holds, cuts or delays what a test names,
// and passes on everything else. Client certificates end at a proxy, so its kubeconfig carries the token of an
// administrator's account that is made here.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { SharedCluster } from './cluster.ts';
import { administratorToken } from './cluster-administrator.ts';
import { type Exchange, forward, readBody, send } from './proxied-exchange.ts';
import {
  createAuthority,
  issueServerCertificate,
  type KeyPair,
} from './real-parts/certificates.ts';
import { onFreePort } from './real-parts/free-port.ts';

/**
 * `answer`: without asking the API server. `hold`: the request waits, and arrives when released, unless its sender has
 * gone meanwhile; `arrive-late`: also if it has. `slow-body`: carried out, but the answer's body never comes to its end.
 * `hold-answer`: carried out, but the answer waits. `cut`: the connection breaks before, `cut-answer`:
 * after it was carried out. `delay`: it arrives late.
 */
export type FaultAct =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** A Status that refuses, unless said. */
      readonly body?: string;
    }
  | { readonly kind: 'slow-body' }
  | { readonly kind: 'hold' | 'arrive-late' | 'cut' | 'cut-answer' }
  | { readonly kind: 'hold-answer'; readonly onCarriedOut?: () => void }
  | { readonly kind: 'delay'; readonly ms: number };

export interface ClusterFault {
  /** Tried on the method and the path with its query: `POST /api/v1/namespaces/kyma-system/serviceaccounts`. */
  readonly on: Pick<RegExp, 'test'>;
  readonly act: FaultAct;
  /** To how many requests; all unless said. */
  readonly times?: number;
}

export interface Misbehaviour {
  /** How many requests it has met. */
  seen(): number;
  /** Ends it, and lets go on what it holds. */
  end(): void;
}

export interface ClusterProxy {
  readonly server: string;
  readonly adminKubeconfig: string;
  /** The earliest of several that fit a request decides. */
  misbehave(fault: ClusterFault): Misbehaviour;
  /** Ends every fault. */
  behave(): void;
  /** Method and path of every request so far that fits. */
  requests(pattern?: RegExp): readonly string[];
  /** Connections made so far. */
  connectionCount(): number;
  /** From here on connections are refused, and those that are open break. */
  takeDown(): Promise<void>;
  /** Does nothing when it is up. A `stranger` has a certificate that the kubeconfig's authority did not issue. */
  bringUp(as?: 'itself' | 'stranger'): Promise<void>;
  stop(): Promise<void>;
}

export async function openClusterProxy(cluster: SharedCluster): Promise<ClusterProxy> {
  const authority = await newAuthority();
  const certificate = await newCertificate(authority);
  const token = await administratorToken(cluster);
  const proxy = new Proxy(cluster, certificate);
  const port = await onFreePort(async (drawn) => {
    await proxy.listen(drawn);
    return drawn;
  });
  const server = `https://127.0.0.1:${port}`;
  return {
    server,
    adminKubeconfig: tokenKubeconfig({ server, authority, token }),
    misbehave: (fault) => proxy.misbehave(fault),
    behave: () => proxy.behave(),
    requests: (pattern) => proxy.requests.filter((line) => pattern?.test(line) ?? true),
    connectionCount: () => proxy.connections,
    takeDown: () => proxy.close(),
    bringUp: async (as = 'itself') =>
      proxy.listen(
        port,
        as === 'stranger' ? await newCertificate(await newAuthority()) : undefined,
      ),
    async stop() {
      proxy.behave();
      await proxy.close();
      proxy.agent.destroy();
    },
  };
}

const newAuthority = (): Promise<KeyPair> => createAuthority('a proxy of a cluster');

const newCertificate = (authority: KeyPair): Promise<KeyPair> =>
  issueServerCertificate(authority, { dns: [], ip: ['127.0.0.1'] });

/** A fault in force, with the gate that what it holds waits at. */
class FaultInForce implements Misbehaviour {
  readonly fault: ClusterFault;
  readonly released: Promise<void>;
  readonly #release: () => void;
  #seen = 0;
  #isOver = false;

  constructor(fault: ClusterFault) {
    this.fault = fault;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.released = promise;
    this.#release = () => resolve(undefined);
  }

  /** Whether it takes the request, which it then counts. */
  takes(line: string): boolean {
    const { on, times = Number.POSITIVE_INFINITY } = this.fault;
    if (this.#isOver || this.#seen >= times || !on.test(line)) return false;
    this.#seen += 1;
    return true;
  }

  seen(): number {
    return this.#seen;
  }

  end(): void {
    this.#isOver = true;
    this.#release();
  }
}

class Proxy {
  readonly requests: string[] = [];
  readonly agent: Agent;
  connections = 0;
  readonly #upstream: string;
  readonly #certificate: KeyPair;
  readonly #sockets = new Set<Socket>();
  readonly #faults: FaultInForce[] = [];
  #server: Server | undefined;

  constructor(cluster: SharedCluster, certificate: KeyPair) {
    this.#upstream = cluster.server;
    this.#certificate = certificate;
    this.agent = new Agent({ keepAlive: true, ca: cluster.authority.certPem });
  }

  async listen(port: number, { certPem, keyPem } = this.#certificate): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
      void this.#serve(request, response).catch(() => response.destroy());
    });
    server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  misbehave(fault: ClusterFault): Misbehaviour {
    const inForce = new FaultInForce(fault);
    this.#faults.push(inForce);
    return inForce;
  }

  behave(): void {
    for (const fault of this.#faults.splice(0)) fault.end();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const line = `${request.method} ${request.url}`;
    this.requests.push(line);
    const body = await readBody(request);
    const exchange: Exchange = { upstream: this.#upstream, agent: this.agent, request, body };
    const fault = this.#faults.find((each) => each.takes(line));
    if (fault === undefined) {
      send(response, await forward(exchange));
    } else {
      await misserve(fault, exchange, response);
    }
  }
}

async function misserve(
  { fault: { act }, released }: FaultInForce,
  exchange: Exchange,
  response: ServerResponse,
): Promise<void> {
  switch (act.kind) {
    case 'answer':
      send(response, refusal(act));
      return;
    case 'slow-body': {
      const { status, headers } = await forward(exchange);
      response.writeHead(status, headers).write('{');
      await released;
      response.destroy();
      return;
    }
    case 'hold':
      await released;
      if (!response.destroyed) send(response, await forward(exchange));
      return;
    case 'arrive-late': {
      await released;
      const answer = await forward(exchange);
      if (!response.destroyed) send(response, answer);
      return;
    }
    case 'hold-answer': {
      const answer = await forward(exchange);
      act.onCarriedOut?.();
      await released;
      send(response, answer);
      return;
    }
    case 'cut':
      response.destroy();
      return;
    case 'cut-answer':
      await forward(exchange);
      response.destroy();
      return;
    case 'delay':
      await pause(act.ms);
      if (!response.destroyed) send(response, await forward(exchange));
  }
}

/** As an API server words it; the text must never reach a platform. */
function refusal({ status, headers = {}, body }: Extract<FaultAct, { kind: 'answer' }>) {
  const refused = {
    apiVersion: 'v1',
    kind: 'Status',
    status: 'Failure',
    message: 'words-of-the-cluster',
    code: status,
  };
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(body ?? JSON.stringify(refused)),
  };
}

interface TokenAccess {
  readonly server: string;
  readonly authority: KeyPair;
  readonly token: string;
}

function tokenKubeconfig({ server, authority, token }: TokenAccess): string {
  const name = `proxy-${randomBytes(4).toString('hex')}`;
  const ca = Buffer.from(authority.certPem, 'utf8').toString('base64');
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name, cluster: { server, 'certificate-authority-data': ca } }],
      users: [{ name, user: { token } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      'current-context': name,
    },
    { lineWidth: 0 },
  );
}
