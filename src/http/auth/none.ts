// No authentication, for a listener that only this machine reaches; the configuration guards that.
import type { Authenticator } from './authenticator.ts';

export function noAuthenticator(): Authenticator {
  const caller = { name: 'anonymous' };
  return { challenge: 'Basic realm="runtime-broker"', authenticate: () => caller };
}
