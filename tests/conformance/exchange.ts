// One HTTP exchange as it is on the wire: nothing is mended on the way out (paths, doubled headers), nothing is
// interpreted on the way back. fetch would do both.

import { type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface Exchange {
  readonly method: string;
  /** As it stands in the request line. */
  readonly target: string;
  /** A list is sent as that many lines. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** The longest that the broker takes is 20 s, for a bind; who waits longer waits for nothing. */
const ANSWER_LIMIT_MS = 25_000;

/** A connection an exchange. Rejects where there is no answer. */
export function exchange(origin: string, question: Exchange): Promise<RawAnswer> {
  const send = origin.startsWith('https:') ? requestHttps : requestHttp;
  const { hostname, port } = new URL(origin);
  const { method, target, body } = question;
  const headers = {
    ...question.headers,
    ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  };
  const options = {
    // An IPv6 address stands in brackets in a URL, and nowhere else.
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    method,
    path: target,
    headers: headers as Record<string, string | string[]>,
    agent: false,
    timeout: ANSWER_LIMIT_MS,
  };
  return new Promise((resolve, reject) => {
    const outgoing = send(options, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(pieces).toString('utf8');
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
      });
    });
    outgoing.on('error', reject);
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer to ${method} ${target}`)));
    outgoing.end(body);
  });
}
