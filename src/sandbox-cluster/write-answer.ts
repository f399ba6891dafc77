// Writes a whole answer, as it is or as a fault of its body has it.

import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import type { FaultAct } from './faults.ts';
import type { WholeAnswer } from './routes/answer.ts';

export interface Outgoing {
  readonly response: ServerResponse;
  /** Headers alone. */
  readonly isHead: boolean;
}

type Headers = Readonly<Record<string, string | number>>;

export async function sendWhole(
  { response, isHead }: Outgoing,
  answer: WholeAnswer & { readonly headers?: Headers },
  act: FaultAct | undefined,
): Promise<void> {
  // A client that hangs up while a fault holds its request is gone.
  if (response.destroyed) return;
  const isText = typeof answer.body === 'string';
  const body = Buffer.from(isText ? String(answer.body) : JSON.stringify(answer.body));
  response.writeHead(answer.status, {
    'content-type': answer.contentType ?? 'application/json',
    'content-length': body.length,
    ...(answer.warning === undefined ? {} : { warning: `299 - ${JSON.stringify(answer.warning)}` }),
    ...answer.headers,
  });
  if (isHead) {
    response.end();
  } else if (act?.kind === 'cut-body') {
    response.write(body.subarray(0, body.length / 2), () => breakOff({ response, isHead }));
  } else if (act?.kind === 'slow-body') {
    await sendSlowly(response, body, act);
  } else {
    response.end(body);
  }
}

async function sendSlowly(
  response: ServerResponse,
  body: Buffer,
  { pieces, pauseMs }: { readonly pieces: number; readonly pauseMs: number },
): Promise<void> {
  response.flushHeaders();
  const bytes = Math.ceil(body.length / pieces);
  for (let start = 0; start < body.length; start += bytes) {
    await pause(pauseMs);
    if (response.destroyed) return;
    response.write(body.subarray(start, start + bytes));
  }
  response.end();
}

/** The client sees its connection reset. */
export function breakOff({ response }: Outgoing): void {
  response.socket?.destroy();
}
