// Checks that a TokenRequest was answered with the token that was asked for. The signature is the API server's
// business; what is compared is whom the token speaks for and how long.

import type { TokenRequest } from 'kubernetes-types/authentication/v1.d.ts';

import { UpstreamError } from '../domain/errors.ts';
import { Secret } from '../domain/secret.ts';
import { malformedAnswer } from './failures.ts';

const ACTION = 'create serviceaccounts/token';

/**
 * Kubernetes grants what is asked, or less. More than a minute beyond it is no rounding but a server that goes its
 * own way, and would break the upper bound which the operator has set: refused.
 */
const LIFETIME_LEEWAY_SECONDS = 60;

/** The same instant is written twice, both times in whole seconds. */
const EXPIRY_LEEWAY_MS = 1_000;

interface AskedToken {
  readonly name: string;
  readonly namespace: string;
  readonly accountUid: string;
  readonly expirationSeconds: number;
}

export interface GrantedToken {
  readonly token: Secret;
  /** By the cluster's clock, as is the expiry. */
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly tokenId?: string;
}

/** Throws an UpstreamError: `conflict` where the token is another account's, else `malformed-answer`. */
export function readGrantedToken(answer: TokenRequest, asked: AskedToken): GrantedToken {
  const token = answer.status?.token ?? '';
  const claims = decodeClaims(token);
  checkAccount(claims, asked);
  const expiresAt = new Date(answer.status?.expirationTimestamp ?? '');
  const issuedAt = checkLifetime(claims, expiresAt, asked.expirationSeconds);
  return {
    token: new Secret(token),
    issuedAt,
    expiresAt,
    ...(typeof claims.jti === 'string' ? { tokenId: claims.jti } : {}),
  };
}

interface Claims {
  readonly sub?: unknown;
  readonly iat?: unknown;
  readonly exp?: unknown;
  readonly nbf?: unknown;
  readonly jti?: unknown;
  readonly 'kubernetes.io'?: {
    readonly namespace?: unknown;
    readonly serviceaccount?: { readonly name?: unknown; readonly uid?: unknown };
  };
}

function decodeClaims(token: string): Claims {
  const [, payload = ''] = token.split('.');
  try {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Claims | null;
    if (typeof claims === 'object' && claims !== null) return claims;
  } catch {
    // The parser's own message would quote the token.
  }
  throw malformedAnswer(ACTION, 'the token is not a JWT');
}

function checkAccount(claims: Claims, asked: AskedToken): void {
  const { namespace, serviceaccount } = claims['kubernetes.io'] ?? {};
  const isOurs =
    claims.sub === `system:serviceaccount:${asked.namespace}:${asked.name}` &&
    namespace === asked.namespace &&
    serviceaccount?.name === asked.name &&
    serviceaccount.uid === asked.accountUid;
  if (isOurs) return;
  // Until Kubernetes 1.33 the uid in a TokenRequest binds nobody: the account may have been replaced meanwhile.
  throw new UpstreamError({
    system: 'cluster',
    action: ACTION,
    reason: 'conflict',
    detail: 'the token is for another account than the one that was made',
  });
}

/** @returns when the token was issued */
function checkLifetime(claims: Claims, expiresAt: Date, askedSeconds: number): Date {
  const { iat, exp, nbf = iat } = claims;
  if (typeof iat !== 'number' || typeof exp !== 'number' || exp <= iat) {
    throw malformedAnswer(ACTION, 'the token does not say how long it lives');
  }
  // Written so that an unreadable timestamp fails as well.
  if (!(Math.abs(expiresAt.getTime() - exp * 1000) <= EXPIRY_LEEWAY_MS)) {
    throw malformedAnswer(ACTION, 'expirationTimestamp is not when the token expires');
  }
  if (typeof nbf !== 'number' || nbf > iat) {
    throw malformedAnswer(ACTION, 'the token is not valid from the moment of its issue');
  }
  if (exp - iat > askedSeconds + LIFETIME_LEEWAY_SECONDS) {
    throw malformedAnswer(ACTION, `the token lives ${exp - iat} s, asked were ${askedSeconds} s`);
  }
  return new Date(iat * 1000);
}
