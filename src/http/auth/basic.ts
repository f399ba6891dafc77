// HTTP basic authentication of one user: the platform's, or the operators' (RFC 7617).
import { createHash, timingSafeEqual } from 'node:crypto';

import type { Secret } from '../../domain/secret.ts';
import type { Authenticator } from './authenticator.ts';

const FORM = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/**
 * Name and password are compared as one text, in constant time: hashes have one length whatever they are of, and a
 * name has no colon, so no other pair gives the same text.
 */
export function basicAuthenticator(username: string, password: Secret): Authenticator {
  const expected = digest(`${username}:${password.reveal()}`);
  const caller = { name: username };
  return {
    challenge: 'Basic realm="runtime-broker", charset="UTF-8"',
    authenticate: ({ authorization = '' }) => {
      const encoded = FORM.exec(authorization)?.[1];
      if (encoded === undefined) {
        return undefined;
      }
      const given = digest(Buffer.from(encoded, 'base64'));
      return timingSafeEqual(given, expected) ? caller : undefined;
    },
  };
}

function digest(value: string | Buffer): Buffer {
  return createHash('sha256').update(value).digest();
}
