// Request bodies. Fastify's own parser answers in its own words and refuses what OSB allows, so this one decides: JSON
// in UTF-8, with or without a content type, and nothing that a database could not keep as it came.
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { BrokerError } from '../domain/errors.ts';

/** Requests carry parameters and a kubeconfig, some kilobytes; a megabyte leaves room and bounds the memory. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** The deepest that parameters are written by hand; what walks them recursively must not run out of stack. */
const MAX_DEPTH = 64;

const JSON_TYPE = /^\s*application\/json\s*(;|$)/i;

/**
 * Methods whose body means something, and of others the routes that say what theirs is; the rest may carry a content
 * type, and even a body, of no meaning (C21).
 */
const WITH_BODY: readonly string[] = ['PUT', 'PATCH', 'POST'];

export function parseBodiesAsJson(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, bodyMeansNothing(request) ? undefined : parseJson(request, body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

function bodyMeansNothing(request: FastifyRequest): boolean {
  const hasBody =
    WITH_BODY.includes(request.method) || request.routeOptions.schema?.body !== undefined;
  return request.is404 || !hasBody;
}

/** @returns undefined for an empty body; whether one is needed is the route's business */
function parseJson(request: FastifyRequest, body: Buffer): unknown {
  const type = request.headers['content-type'] ?? '';
  if (type !== '' && !JSON_TYPE.test(type)) {
    throw malformedBody('must be application/json.');
  }
  if (body.length === 0) {
    return undefined;
  }
  const value = parse(body);
  const fault = contentFault(value);
  if (fault !== undefined) {
    throw malformedBody(fault);
  }
  return value;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown;
  } catch {
    // The parser's message quotes the body, which may hold a credential.
    throw malformedBody('must be valid JSON in UTF-8.');
  }
}

function malformedBody(fault: string): BrokerError {
  return new BrokerError({ code: 'malformed-request', description: `The body ${fault}` });
}

/** Level by level instead of recursively: how deep the value is, is what is being asked. */
function contentFault(value: unknown): string | undefined {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) {
      return `must not be nested deeper than ${MAX_DEPTH} levels.`;
    }
    if (level.some(holdsForbiddenText)) {
      return 'must not contain NUL characters or unpaired surrogates.';
    }
    level = level.flatMap((part) =>
      typeof part === 'object' && part !== null ? (Object.values(part) as unknown[]) : [],
    );
  }
  return undefined;
}

/** PostgreSQL stores neither, in text or in JSON. */
function holdsForbiddenText(part: unknown): boolean {
  if (typeof part === 'string') {
    return isForbidden(part);
  }
  return typeof part === 'object' && part !== null && Object.keys(part).some(isForbidden);
}

function isForbidden(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed();
}
