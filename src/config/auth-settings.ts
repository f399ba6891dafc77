// How platforms and operators prove who they are: two users, each with a password of its own, on two listeners.
import type { DatabaseSetting, ListenAddress, OperatorAuth, PlatformAuth } from './config.ts';
import { readChoice, readPlain, type Sources } from './environment.ts';
import { readOrKept } from './kept-secrets.ts';
import { isLoopback } from './listen-address.ts';

interface AuthSurroundings {
  readonly database: DatabaseSetting;
  readonly publicListen: ListenAddress;
}

/** @returns undefined after a fault was noted */
export function readPlatformAuth(
  sources: Sources,
  { database, publicListen }: AuthSurroundings,
): PlatformAuth | undefined {
  const kind = readChoice(sources, 'RUNTIME_BROKER_AUTH', ['basic', 'none']) ?? 'basic';
  const allowed = readChoice(sources, 'RUNTIME_BROKER_ALLOW_NO_AUTH', ['true', 'false']);
  if (kind === 'none') {
    if (allowed !== 'true' && !isLoopback(publicListen)) {
      sources.faults.push({
        path: 'env RUNTIME_BROKER_AUTH',
        found: 'none, with a public listener that other machines can reach',
        allowed: 'basic, or a loopback listener, or RUNTIME_BROKER_ALLOW_NO_AUTH=true',
      });
    }
    return { kind };
  }
  const username = readUsername(sources, 'RUNTIME_BROKER_USERNAME') ?? 'broker';
  const password = readOrKept(sources, database, {
    name: 'RUNTIME_BROKER_PASSWORD',
    required: 'the password of the platform, for basic authentication',
  });
  return password && { kind: 'basic', username, password };
}

/** Probes need no credentials, so a broker without a password of operators can be run. */
export function readOperatorAuth(sources: Sources, database: DatabaseSetting): OperatorAuth {
  const username = readUsername(sources, 'RUNTIME_BROKER_OPERATOR_USERNAME') ?? 'operator';
  const password = readOrKept(sources, database, {
    name: 'RUNTIME_BROKER_OPERATOR_PASSWORD',
    required: undefined,
  });
  return password === undefined ? { kind: 'closed' } : { kind: 'basic', username, password };
}

function readUsername(
  sources: Sources,
  name: 'RUNTIME_BROKER_USERNAME' | 'RUNTIME_BROKER_OPERATOR_USERNAME',
): string | undefined {
  const username = readPlain(sources, name);
  if (username?.includes(':') === true) {
    sources.faults.push({
      path: `env ${name}`,
      found: 'a text with a colon',
      allowed: 'a user name without a colon, which ends the name in basic authentication',
    });
  }
  return username;
}
