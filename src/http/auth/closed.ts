// For a surface whose credentials nobody has set: it knows nobody, so that what was not configured is not open.
import type { Authenticator } from './authenticator.ts';

export function closedAuthenticator(): Authenticator {
  return { challenge: 'Basic realm="runtime-broker"', authenticate: () => undefined };
}
