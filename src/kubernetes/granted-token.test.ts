import { describe, expect, it } from 'vitest';

import { UpstreamError } from '../domain/errors.ts';
import { readGrantedToken } from './granted-token.ts';

const asked = {
  name: 'kyma-binding-a-0123456789',
  namespace: 'kyma-system',
  accountUid: '6d2c6b9e-4e7b-4f0e-9c58-0f1f1a1f7a11',
  expirationSeconds: 600,
};

/** 2026-05-04T03:02:01Z. */
const ISSUED_AT = 1_777_863_721;

const account = {
  namespace: 'kyma-system',
  serviceaccount: {
    name: 'kyma-binding-a-0123456789',
    uid: '6d2c6b9e-4e7b-4f0e-9c58-0f1f1a1f7a11',
  },
};

const claims = {
  sub: 'system:serviceaccount:kyma-system:kyma-binding-a-0123456789',
  iat: ISSUED_AT,
  exp: ISSUED_AT + 600,
  jti: '0b2f8c0e-6d0e-4c38-8f0c-1f6f6f1c2d3e',
  'kubernetes.io': account,
};

interface Change {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly expirationTimestamp?: string;
}

function answer({
  claims: changed,
  expirationTimestamp = '2026-05-04T03:12:01Z',
}: Change = {}): object {
  return { status: { token: jwt(JSON.stringify({ ...claims, ...changed })), expirationTimestamp } };
}

const jwt = (payload: string): string =>
  `eyJhbGciOiJSUzI1NiJ9.${Buffer.from(payload, 'utf8').toString('base64url')}.c2ln`;

function failureOf(tokenRequest: object): UpstreamError {
  try {
    readGrantedToken(tokenRequest as Parameters<typeof readGrantedToken>[0], asked);
  } catch (error) {
    if (error instanceof UpstreamError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

const read = (change?: Change): ReturnType<typeof readGrantedToken> =>
  readGrantedToken(answer(change) as Parameters<typeof readGrantedToken>[0], asked);

describe('a granted token', () => {
  it('is taken with its expiry and its id', () => {
    const granted = read();
    expect(granted.token.reveal()).toMatch(/^eyJhbGciOiJSUzI1NiJ9\./);
    expect(granted.expiresAt).toEqual(new Date('2026-05-04T03:12:01Z'));
    expect(granted.tokenId).toBe('0b2f8c0e-6d0e-4c38-8f0c-1f6f6f1c2d3e');
  });

  it('may live shorter than asked, as the cluster caps it', () => {
    const claims = { exp: ISSUED_AT + 300 };
    const { expiresAt } = read({ claims, expirationTimestamp: '2026-05-04T03:07:01Z' });
    expect(expiresAt).toEqual(new Date('2026-05-04T03:07:01Z'));
  });

  it('may live some seconds longer, but not for hours', () => {
    const longer = { exp: ISSUED_AT + 660 };
    expect(read({ claims: longer, expirationTimestamp: '2026-05-04T03:13:01Z' }).expiresAt).toEqual(
      new Date('2026-05-04T03:13:01Z'),
    );
    const aYear = { exp: ISSUED_AT + 31_536_000 };
    const failure = failureOf(
      answer({ claims: aYear, expirationTimestamp: '2027-05-04T03:02:01Z' }),
    );
    expect(failure.message).toContain('the token lives 31536000 s, asked were 600 s');
  });

  it('may have no id, as before Kubernetes 1.32', () => {
    expect(read({ claims: { jti: undefined } })).not.toHaveProperty('tokenId');
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['another subject', { sub: 'system:serviceaccount:kyma-system:other' }],
    ['another namespace', { 'kubernetes.io': { ...account, namespace: 'default' } }],
    [
      'an account of another name',
      {
        'kubernetes.io': {
          ...account,
          serviceaccount: { ...account.serviceaccount, name: 'other' },
        },
      },
    ],
    [
      'the account that has taken the place of ours',
      {
        'kubernetes.io': {
          ...account,
          serviceaccount: {
            ...account.serviceaccount,
            uid: '00000000-0000-4000-8000-000000000000',
          },
        },
      },
    ],
    ['no account', { 'kubernetes.io': undefined }],
  ])('is not taken for %s', (_, changed) => {
    expect(failureOf(answer({ claims: changed })).reason).toBe('conflict');
  });

  it.each<[string, object]>([
    ['no status', {}],
    ['an empty token', { status: { token: '', expirationTimestamp: '2026-05-04T03:12:01Z' } }],
    ['an opaque token', { status: { token: 'opaque' } }],
    ['a token that holds no JSON', { status: { token: jwt('secret words') } }],
    ['a token that holds null', { status: { token: jwt('null') } }],
    ['a token without an end', answer({ claims: { exp: undefined } })],
    ['a token without a beginning', answer({ claims: { iat: undefined } })],
    ['a token that is valid later only', answer({ claims: { nbf: ISSUED_AT + 1 } })],
    ['a token that is valid at an unknown time', answer({ claims: { nbf: 'now' } })],
    ['a token that ends before it begins', answer({ claims: { exp: ISSUED_AT } })],
    ['another expiry than the token has', answer({ expirationTimestamp: '2026-05-04T03:12:04Z' })],
    ['an expiry that is no time', answer({ expirationTimestamp: 'soon' })],
  ])('is not taken from %s', (_, tokenRequest) => {
    const failure = failureOf(tokenRequest);
    expect(failure).toMatchObject({ reason: 'malformed-answer', retryable: false });
    expect(failure.message).not.toMatch(/secret words|opaque/);
  });
});
