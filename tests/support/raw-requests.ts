// Plain HTTPS requests to a cluster, without a client that mends or interprets anything.

import { request } from 'node:https';

import { parse } from 'yaml';

export interface RawRequest {
  readonly method: string;
  /** Below the server's own path, query included. */
  readonly path: string;
  /** An object is sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** Instead of the kubeconfig's own credentials; empty: none at all. */
  readonly token?: string;
}

export interface RawAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

interface Kubeconfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string };
  }[];
  readonly users: readonly {
    readonly user: {
      readonly token?: string;
      readonly 'client-certificate-data'?: string;
      readonly 'client-key-data'?: string;
    };
  }[];
}

export type RawClient = (call: RawRequest) => Promise<RawAnswer>;

/** A connection a request. Rejects where there is no answer. */
export function rawClient(kubeconfig: string): RawClient {
  const file = parse(kubeconfig) as Kubeconfig;
  const cluster = file.clusters[0]?.cluster;
  const user = file.users[0]?.user;
  if (cluster === undefined || user === undefined) throw new Error('not a whole kubeconfig');
  const certificate = user['client-certificate-data'];
  const key = user['client-key-data'];
  return (call) => {
    const token = call.token ?? user.token ?? '';
    const body = bodyOf(call.body);
    const url = new URL(cluster.server + call.path);
    const options = {
      method: call.method,
      agent: false,
      ca: decoded(cluster['certificate-authority-data']),
      ...(call.token === undefined && certificate !== undefined && key !== undefined
        ? { cert: decoded(certificate), key: decoded(key) }
        : {}),
      headers: {
        accept: call.accept ?? 'application/json',
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined
          ? {}
          : {
              'content-type': call.contentType ?? 'application/json',
              'content-length': String(Buffer.byteLength(body)),
            }),
      },
    };
    return new Promise((resolve, reject) => {
      const question = request(url, options, (answer) => {
        const pieces: Buffer[] = [];
        answer.on('data', (piece: Buffer) => pieces.push(piece));
        answer.on('error', reject);
        answer.on('end', () => {
          resolve({
            status: answer.statusCode ?? 0,
            contentType: answer.headers['content-type'] ?? '',
            text: Buffer.concat(pieces).toString('utf8'),
          });
        });
      });
      question.on('error', reject);
      question.end(body);
    });
  };
}

function bodyOf(body: unknown): string | undefined {
  if (body === undefined || typeof body === 'string') return body;
  return JSON.stringify(body);
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}
