// What whoever proves nothing is told, on every surface that asks for credentials.
import type { IncomingHttpHeaders } from 'node:http';

import type { HttpRefusal } from '../refusal.ts';
import type { Authenticator } from './authenticator.ts';

/** Says nothing about what exists: who is not known learns no ids (C6). */
export function strangerRefusal(
  authenticator: Authenticator,
  headers: IncomingHttpHeaders,
): HttpRefusal | undefined {
  return authenticator.authenticate(headers) !== undefined
    ? undefined
    : {
        status: 401,
        description: 'The request needs valid credentials.',
        headers: { 'WWW-Authenticate': authenticator.challenge },
      };
}
