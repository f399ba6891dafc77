// One request through a proxy: read in full, sent on as it came, its answer read in full. Whether and when is the
// proxy's business.

import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type Agent, request as sendRequest } from 'node:https';

export interface Exchange {
  /** `https://host:port`. */
  readonly upstream: string;
  readonly agent: Agent;
  readonly request: IncomingMessage;
  readonly body: Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** These speak of one connection, and there are two (RFC 9110, 7.6.1). */
const OF_THE_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'host'];

export async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export async function forward({ upstream, agent, request, body }: Exchange): Promise<Answer> {
  const onward = sendRequest(`${upstream}${request.url}`, {
    method: request.method,
    headers: endToEnd(request.headers),
    agent,
  });
  onward.end(body);
  const [answer] = (await once(onward, 'response')) as [IncomingMessage];
  return {
    status: answer.statusCode ?? 0,
    headers: endToEnd(answer.headers),
    body: await readBody(answer),
  };
}

export function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, headers).end(body);
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.includes(name)),
  );
}
