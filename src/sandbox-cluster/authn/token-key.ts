// Signs and verifies the tokens of one cluster: JWTs with ES256, by a key that no other cluster has.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

import { isJsonObject, type JsonObject } from '../api/kube-object.ts';

/** PKCS #8, in PEM. */
export function makeTokenKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** As JOSE writes the signatures of ES256 (RFC 7518, 3.4). */
const DSA_ENCODING = 'ieee-p1363';

export class TokenKey {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #keyId: string;

  constructor(pem: string) {
    this.#privateKey = createPrivateKey(pem);
    this.#publicKey = createPublicKey(this.#privateKey);
    const der = this.#publicKey.export({ type: 'spki', format: 'der' });
    this.#keyId = createHash('sha256').update(der).digest('base64url');
  }

  sign(claims: JsonObject): string {
    const head = encode({ alg: 'ES256', kid: this.#keyId });
    const content = `${head}.${encode(claims)}`;
    const key = { key: this.#privateKey, dsaEncoding: DSA_ENCODING } as const;
    return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
  }

  /** Undefined for what this key has not signed. Times and names are not looked at. */
  claimsOf(token: string): JsonObject | undefined {
    const parts = token.split('.');
    const [head = '', payload = '', signature = ''] = parts;
    const header = decode(head);
    // The algorithm is ours, whatever a token says; one that says another is not ours.
    if (parts.length !== 3 || header?.['alg'] !== 'ES256') return undefined;
    const key = { key: this.#publicKey, dsaEncoding: DSA_ENCODING } as const;
    const content = Buffer.from(`${head}.${payload}`);
    const isOurs = verify('sha256', content, key, Buffer.from(signature, 'base64url'));
    return isOurs ? decode(payload) : undefined;
  }

  /** RFC 7517. */
  publicKeySet(): JsonObject {
    const { kty, crv, x, y } = this.#publicKey.export({ format: 'jwk' });
    const key = { use: 'sig', kty, kid: this.#keyId, crv, alg: 'ES256', x, y };
    return { keys: [key] };
  }
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');
}

function decode(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
