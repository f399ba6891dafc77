// What every OSB request must bring before its route is looked at: credentials, then an API version we serve, then a
// URL that can be read (docs/architecture.md, "One binding, walked"; C1 to C8).
import type { FastifyRequest } from 'fastify';

import type { Authenticator } from '../auth/authenticator.ts';
import { strangerRefusal } from '../auth/stranger-refusal.ts';
import { type HttpRefusal, malformed } from '../refusal.ts';
import { targetFault } from '../request-target.ts';

export function preconditionRefusal(
  authenticator: Authenticator,
  request: FastifyRequest,
): HttpRefusal | undefined {
  const stranger = strangerRefusal(authenticator, request.headers);
  // A route that does not exist has no version either.
  if (stranger !== undefined || request.is404) {
    return stranger;
  }
  const fault = targetFault(request.raw.url ?? '');
  return (
    versionRefusal(request.headers['x-broker-api-version']) ??
    (fault === undefined ? undefined : malformed(fault))
  );
}

/** What Service Catalog's last release sends; every platform that is still in use sends this or more. */
const OLDEST_MINOR = 13;

const VERSION_FORM = /^2\.(\d+)$/;

/** @param header several headers of one name arrive joined by commas */
function versionRefusal(header: string | readonly string[] | undefined): HttpRefusal | undefined {
  const versions = new Set(
    [header ?? '']
      .flat()
      .flatMap((text) => text.split(','))
      .map((text) => text.trim()),
  );
  const [version = ''] = versions;
  if (versions.size > 1) {
    return malformed('X-Broker-API-Version is given twice, with different values.');
  }
  const minor = VERSION_FORM.exec(version)?.[1];
  if (minor !== undefined && Number(minor) >= OLDEST_MINOR) {
    return undefined;
  }
  const fault = version === '' ? 'is missing' : 'is not served here';
  return {
    status: 412,
    description: `X-Broker-API-Version ${fault}; use 2.17, or any 2.x from 2.${OLDEST_MINOR} on.`,
  };
}
