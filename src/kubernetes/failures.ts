// Every way in which a call to a cluster fails, as an UpstreamError of the domain. What is quoted of an answer is
// bounded and freed of tokens; the original errors are not attached, since parsers put pieces of the answer in them.

import { UpstreamError, type UpstreamReason } from '../domain/errors.ts';

/** A sentence of a Kubernetes Status fits; a page of a proxy does not belong in a log line. */
const MAX_DETAIL_LENGTH = 300;

/** A day. A cluster that asks for more is not waited for as asked, since the caller would never come back. */
const MAX_RETRY_AFTER_SECONDS = 86_400;

const REASON_BY_STATUS: Readonly<Record<number, UpstreamReason>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
  422: 'invalid',
  429: 'too-many-requests',
};

/** Codes of Node, OpenSSL and undici; the first pattern that matches decides. */
const REASON_BY_CODE: readonly (readonly [RegExp, UpstreamReason])[] = [
  [/^(UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT|ERR_TLS_HANDSHAKE_TIMEOUT)$/, 'timed-out'],
  [
    /^(ENOTFOUND|EAI_\w+|ECONNREFUSED|E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL|EACCES)$/,
    'unreachable',
  ],
  [/^(ERR_(SSL|TLS|OSSL)_|CERT_|CRL_|UNABLE_TO_|ERROR_IN_CERT|DEPTH_ZERO_|SELF_SIGNED_)/, 'tls'],
  [/^(INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|EPROTO)$/, 'tls'],
  [/^(UND_ERR_SOCKET|ECONNRESET|ECONNABORTED|EPIPE|HPE_INVALID_EOF_STATE)$/, 'cut'],
  [/^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/, 'cut'],
  [/^(HPE_|UND_ERR_RES_EXCEEDED_MAX_SIZE$|UND_ERR_HEADERS_OVERFLOW$)/, 'malformed-answer'],
  [/^UND_ERR_(CLOSED|DESTROYED|ABORTED)$/, 'cancelled'],
];

/** An answer that is not a success, as far as it was read. */
interface RefusedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  /** The server's own Date header, by which a Retry-After that is a date is understood. */
  readonly date: string | undefined;
  /** Undefined where the content type is not JSON. */
  readonly text: string | undefined;
}

export function failureOfAnswer(action: string, answer: RefusedAnswer): UpstreamError {
  const { status } = answer;
  const refusal = readStatus(answer.text);
  const retryAfterSeconds = readRetryAfter(answer.retryAfter, answer.date);
  return new UpstreamError({
    system: 'cluster',
    action,
    reason: reasonOf(status, refusal),
    detail: safeDetail(`${status} ${messageOf(refusal) ?? answer.contentType}`.trim()),
    status,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/**
 * A 404 says that an object is gone, and ends the grant whose object it was: so only an API server is believed. What
 * stands before one answers 404 with a page of its own, for objects that are there, while it knows no way to it.
 */
function reasonOf(status: number, refusal: Refusal | undefined): UpstreamReason {
  if (saysNamespaceEnds(refusal)) return 'not-found';
  if (status === 404 && refusal === undefined) return 'malformed-answer';
  return REASON_BY_STATUS[status] ?? (status >= 500 ? 'server-error' : 'unexpected-status');
}

/** How our own side ended the call, where it did. */
export type EndedBy = 'limit' | 'caller' | undefined;

/**
 * The failure behind what undici or Node threw. An error that no network can cause is a bug and is given back as it
 * is, to be thrown on.
 */
export function failureOfThrown(action: string, thrown: unknown, endedBy: EndedBy): unknown {
  if (thrown instanceof UpstreamError) return thrown;
  if (endedBy === 'caller') return failure(action, 'cancelled', 'cancelled by the caller');
  if (endedBy === 'limit') return failure(action, 'timed-out', 'no complete answer in time');
  const code = codeOf(thrown);
  const reason = REASON_BY_CODE.find(([pattern]) => pattern.test(code))?.[1];
  if (reason === undefined || !(thrown instanceof Error)) return thrown;
  return failure(action, reason, safeDetail(`${code}: ${thrown.message}`));
}

/** An answer with a good status that is not what the protocol promises. */
export function malformedAnswer(action: string, detail: string): UpstreamError {
  return failure(action, 'malformed-answer', safeDetail(detail));
}

export function hasReason(error: unknown, reason: UpstreamReason): error is UpstreamError {
  return error instanceof UpstreamError && error.reason === reason;
}

/** Whether a request that got no byte of an answer may have met a connection that the server had closed before. */
export function isStaleConnection(thrown: unknown): boolean {
  return /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test(codeOf(thrown));
}

function failure(action: string, reason: UpstreamReason, detail: string): UpstreamError {
  return new UpstreamError({ system: 'cluster', action, reason, detail });
}

function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** A Kubernetes Status as anybody could have written it. */
interface Refusal {
  readonly message?: unknown;
  readonly details?: { readonly causes?: unknown } | null;
}

function readStatus(text: string | undefined): Refusal | undefined {
  if (text === undefined) return undefined;
  try {
    const body = JSON.parse(text) as (Refusal & { readonly kind?: unknown }) | null;
    return body?.kind === 'Status' ? body : undefined;
  } catch {
    return undefined;
  }
}

function messageOf(refusal: Refusal | undefined): string | undefined {
  return typeof refusal?.message === 'string' ? refusal.message : undefined;
}

/**
 * Nothing can be made in a namespace that is being deleted. Kubernetes says so by 403, of which the caller would conclude
 * that a right is missing.
 */
function saysNamespaceEnds(refusal: Refusal | undefined): boolean {
  const causes = refusal?.details?.causes;
  return (
    Array.isArray(causes) &&
    causes.some((cause: { reason?: unknown } | null) => cause?.reason === 'NamespaceTerminating')
  );
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3); a date is compared with the server's clock, not with ours. */
function readRetryAfter(
  retryAfter: string | undefined,
  date: string | undefined,
): number | undefined {
  if (retryAfter === undefined) return undefined;
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : Math.ceil((Date.parse(retryAfter) - Date.parse(date ?? '')) / 1000);
  return Number.isNaN(seconds)
    ? undefined
    : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS);
}

/** Whatever looks like a JWT or a bearer credential, even when cut off. */
const TOKENS = /\beyJ[\w-]*(\.[\w-]*)*|\bBearer\s+\S+/gi;

function safeDetail(text: string): string {
  // A token is replaced before the text is cut, so that no first half of one is left.
  return text.replace(TOKENS, '[secret]').replace(/\s+/g, ' ').slice(0, MAX_DETAIL_LENGTH);
}
