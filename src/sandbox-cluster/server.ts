// The HTTPS server of a sandbox: finds the cluster by the path's prefix, reads the request, lets faults have their
// way, and writes the answer. What is answered is left to routes/.

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';

import type { JsonObject } from './api/kube-object.ts';
import { bodyTooLarge, internalError, noSuchResource, StatusError } from './api/status.ts';
import type { Credentials } from './authn/authenticator.ts';
import type { Cluster } from './cluster.ts';
import type { Encounter, Faults } from './faults.ts';
import type { Answer, StreamedAnswer } from './routes/answer.ts';
import { answerCall } from './routes/answer-call.ts';
import { RequestCount } from './request-count.ts';
import type { KeyPair } from './store/sandbox-store.ts';
import { certificateOf } from './tls/peer-certificate.ts';
import { breakOff, type Outgoing, sendWhole } from './write-answer.ts';

/** As kube-apiserver: twice what etcd takes. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** Longer than the 55 s after which the broker's own clients let go, so that it is they who close. */
const KEEP_ALIVE_MS = 90_000;

const PREFIX = /^\/clusters\/([^/?]+)(\/[^?]*)?(?:\?(.*))?$/;

export interface ServerParts {
  readonly authority: KeyPair;
  readonly certificate: KeyPair;
  readonly faults: Faults;
  /** Told of errors that are no answer of Kubernetes: bugs of ours. The client gets a 500 that says nothing. */
  readonly onFault: (error: unknown) => void;
  readonly clusterNamed: (name: string) => Cluster | undefined;
}

export class SandboxServer {
  readonly #parts: ServerParts;
  readonly #server: Server;
  readonly #counts = new RequestCount();
  readonly #streams = new Map<Cluster, Set<() => void>>();

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.#server = createServer(
      {
        cert: parts.certificate.certPem,
        key: parts.certificate.keyPem,
        ca: parts.authority.certPem,
        // A certificate may be shown; whom it stands for is found out for each request.
        requestCert: true,
        rejectUnauthorized: false,
        keepAliveTimeout: KEEP_ALIVE_MS,
        // A watch is one request for an hour.
        requestTimeout: 0,
      },
      (request, response) => void this.#serve(request, response),
    );
  }

  /** @returns the port. Throws where it is taken. */
  async listen(host: string, port: number): Promise<number> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends the watches of a cluster. */
  endStreams(cluster: Cluster): void {
    for (const end of this.#streams.get(cluster) ?? []) end();
    this.#streams.delete(cluster);
  }

  /** Cuts what is in flight. */
  async close(): Promise<void> {
    for (const cluster of this.#streams.keys()) this.endStreams(cluster);
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const met = this.#parts.faults.meet(method, url);
    const outgoing: Outgoing = { response, isHead: method === 'HEAD' };
    // Whoever cuts the connection is not waiting for an answer.
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    try {
      const body = await readBody(request);
      if (await isIntercepted(outgoing, met)) return;
      await this.#send(outgoing, this.#answer(request, body), met);
    } catch (error) {
      if (request.destroyed && !request.complete) return;
      await this.#send(outgoing, wholeOf(this.#failureOf(error)), met);
    }
  }

  #failureOf(error: unknown): StatusError {
    if (error instanceof StatusError) return error;
    this.#parts.onFault(error);
    return internalError('an unexpected fault');
  }

  #answer(request: IncomingMessage, body: Buffer): Answer & { cluster?: Cluster } {
    const { method = 'GET', url = '/', headers } = request;
    const [, name = '', path = '/', search = ''] = PREFIX.exec(url) ?? [];
    const cluster = this.#parts.clusterNamed(name);
    if (cluster === undefined) throw noSuchResource();
    this.#counts.count(cluster.name, method);
    const answer = answerCall({
      cluster,
      credentials: credentialsOf(request),
      impersonates: Object.keys(headers).some((header) => header.startsWith('impersonate-')),
      method,
      path,
      query: new URLSearchParams(search),
      accept: headers.accept ?? '',
      contentType: withoutParameters(headers['content-type'] ?? ''),
      body,
      metrics: this.#counts.render(cluster.name),
    });
    return { ...answer, cluster };
  }

  async #send(
    outgoing: Outgoing,
    answer: Answer & { readonly cluster?: Cluster },
    met: Encounter | undefined,
  ): Promise<void> {
    if (met?.act.kind === 'cut-answer') return breakOff(outgoing);
    if (met?.act.kind === 'hang-answer') await met.hold(once(outgoing.response, 'close'));
    if (answer.kind === 'whole') return sendWhole(outgoing, answer, met?.act);
    if (answer.cluster !== undefined) this.#stream(outgoing, answer, answer.cluster);
  }

  #stream({ response }: Outgoing, answer: StreamedAnswer, cluster: Cluster): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    // The client learns that the watch stands, however long nothing changes.
    response.flushHeaders();
    const streams = this.#streams.get(cluster) ?? new Set();
    this.#streams.set(cluster, streams);
    const finish = (): void => void response.end();
    const send = (line: JsonObject): void => void response.write(`${JSON.stringify(line)}\n`);
    const stop = answer.start(send, finish);
    streams.add(finish);
    response.on('close', () => {
      stop();
      streams.delete(finish);
    });
  }
}

function credentialsOf({ headers, socket }: IncomingMessage): Credentials {
  return { authorization: headers.authorization, certificate: certificateOf(socket as TLSSocket) };
}

function withoutParameters(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase();
}

function wholeOf(error: StatusError): Answer {
  return { kind: 'whole', status: error.code, body: error.status };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) throw bodyTooLarge(MAX_BODY_BYTES);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** What happens to a request before it is carried out. @returns whether it is not carried out at all */
async function isIntercepted(outgoing: Outgoing, met: Encounter | undefined): Promise<boolean> {
  switch (met?.act.kind) {
    case 'answer': {
      const { status, headers = {}, body } = met.act;
      const failure = new StatusError(status, { message: 'a fault that was asked for' });
      const answer = { kind: 'whole', status, body: body ?? failure.status, headers } as const;
      await sendWhole(outgoing, answer, undefined);
      return true;
    }
    case 'delay':
      await pause(met.act.ms);
      return outgoing.response.destroyed;
    case 'hang':
      await met.hold(once(outgoing.response, 'close'));
      return outgoing.response.destroyed;
    case 'cut':
      breakOff(outgoing);
      return true;
    case 'hang-answer':
    case 'cut-answer':
    case 'cut-body':
    case 'slow-body':
    case undefined:
      return false;
  }
}
