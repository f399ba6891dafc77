// What Fastify and Node refuse on their own, said in the form of all other errors.
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

import { type HttpRefusal, INTERNAL_ERROR, malformed } from './refusal.ts';

const DESCRIPTIONS: Readonly<Record<string, HttpRefusal>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { status: 413, description: 'The body is larger than 1 MiB.' },
  // OSB knows no 415 (C19).
  FST_ERR_CTP_INVALID_MEDIA_TYPE: malformed('The body must be application/json.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: malformed('The body has not the length it claims.'),
  FST_ERR_BAD_URL: malformed('The URL has a percent sequence that is not valid UTF-8.'),
  // Routes take any length that fits a request; this is the router of what matched none of them.
  FST_ERR_MAX_PARAM_LENGTH: { status: 404, description: 'There is no such route.' },
};

/** Fastify's own, and a body that broke off; a status on any other error is another system's. */
const REQUEST_FAULT_CODE = /^(FST_ERR_|ECONNRESET$)/;

interface FrameworkError {
  readonly code?: unknown;
  readonly statusCode?: unknown;
}

/** @returns for what the framework does not blame on the request, the answer to a fault of our own */
export function answerToFrameworkError(error: unknown): HttpRefusal {
  const { code = '', statusCode } = (error ?? {}) as FrameworkError;
  const known = DESCRIPTIONS[String(code)];
  if (known !== undefined) {
    return known;
  }
  const isRequestsFault = Math.floor(Number(statusCode) / 100) === 4;
  return isRequestsFault && REQUEST_FAULT_CODE.test(String(code))
    ? malformed('The request is malformed.')
    : INTERNAL_ERROR;
}

const STATUS_OF_CONNECTION_ERROR: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers what never became a request: there is a socket and no reply yet. */
export function answerToConnectionError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUS_OF_CONNECTION_ERROR[error.code ?? ''] ?? 400;
  const body = JSON.stringify({ description: 'The request is not well-formed HTTP, or too slow.' });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
