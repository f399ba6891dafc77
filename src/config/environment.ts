// The environment variables this version knows, and how one is read: an empty one counts as absent, and each secret
// may also come as a file, by the variable NAME_FILE. What a value means is read-config.ts's business.
import { Secret } from '../domain/secret.ts';
import { closestName } from './closest-name.ts';
import type { ConfigFault } from './faults.ts';
import type { Judges } from './judges.ts';

const PLAIN = [
  'RUNTIME_BROKER_LISTEN',
  'RUNTIME_BROKER_OPERATOR_LISTEN',
  'RUNTIME_BROKER_CONFIG',
  'RUNTIME_BROKER_DATA_DIR',
  'RUNTIME_BROKER_KCP_KUBECONFIG',
  'RUNTIME_BROKER_AUTH',
  'RUNTIME_BROKER_ALLOW_NO_AUTH',
  'RUNTIME_BROKER_USERNAME',
  'RUNTIME_BROKER_OPERATOR_USERNAME',
  'RUNTIME_BROKER_LOG_LEVEL',
  'RUNTIME_BROKER_LOG_FORMAT',
] as const;

const SECRET = [
  'DATABASE_URL',
  'RUNTIME_BROKER_PASSWORD',
  'RUNTIME_BROKER_OPERATOR_PASSWORD',
  'RUNTIME_BROKER_SEALING_KEYS',
] as const;

type PlainName = (typeof PLAIN)[number];
type SecretName = (typeof SECRET)[number];

export type Environment = Readonly<Record<string, string | undefined>>;

/** @returns the file's text; throws as Node does where it cannot be read */
export type ReadFile = (path: string) => string;

export interface Sources {
  readonly env: Environment;
  readonly readFile: ReadFile;
  readonly faults: ConfigFault[];
  readonly judges: Judges;
  /** Secrets that nobody has given and that the data folder keeps: noted as they are read. */
  readonly kept: KeptSecretName[];
  /** Whether kept secrets that were not made yet count as there, for whoever only looks. */
  readonly withStandIns: boolean;
}

/** Variable → file in the data folder that stands in for it with the embedded database. */
export const KEPT_SECRETS = {
  RUNTIME_BROKER_PASSWORD: 'platform-password',
  RUNTIME_BROKER_OPERATOR_PASSWORD: 'operator-password',
  RUNTIME_BROKER_SEALING_KEYS: 'sealing-keys',
} as const;

export type KeptSecretName = keyof typeof KEPT_SECRETS;

export function readPlain({ env }: Sources, name: PlainName): string | undefined {
  return env[name] === '' ? undefined : env[name];
}

/** One of a few words; another one is a fault. */
export function readChoice<const T extends string>(
  sources: Sources,
  name: PlainName,
  options: readonly T[],
): T | undefined {
  const text = readPlain(sources, name);
  const choice = options.find((option) => option === text);
  if (text !== undefined && choice === undefined) {
    sources.faults.push({
      path: `env ${name}`,
      found: 'another text',
      allowed: `one of ${options.join(', ')}`,
    });
  }
  return choice;
}

/** A file's closing line break is an editor's and not the secret's. */
export function readSecret(sources: Sources, name: SecretName): Secret | undefined {
  const value = sources.env[name] || undefined;
  const path = sources.env[`${name}_FILE`] || undefined;
  if (path === undefined) {
    return value === undefined ? undefined : new Secret(value);
  }
  if (value !== undefined) {
    sources.faults.push({
      path: `env ${name}`,
      found: `both ${name} and ${name}_FILE`,
      allowed: 'one of the two',
    });
    return undefined;
  }
  const text = readNamedFile(sources, `${name}_FILE`, path)?.replace(/\r?\n$/, '');
  if (text === '') {
    sources.faults.push({
      path: `env ${name}_FILE`,
      found: 'an empty file',
      allowed: 'a file that holds the secret',
    });
    return undefined;
  }
  return text === undefined ? undefined : new Secret(text);
}

/** The text of the file that a variable names; a file that cannot be read is a fault. */
export function readNamedFile(sources: Sources, name: string, path: string): string | undefined {
  try {
    return sources.readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    sources.faults.push({
      path: `env ${name}`,
      found: `the name of a file that cannot be read${code}`,
      allowed: 'the name of a readable file',
    });
    return undefined;
  }
}

/** What was asked for and is wanted although absent: noted once, unless the secret's own fault was noted already. */
export function noteMissing(sources: Sources, name: SecretName, allowed: string): void {
  const paths = new Set([`env ${name}`, `env ${name}_FILE`]);
  if (!sources.faults.some((fault) => paths.has(fault.path))) {
    sources.faults.push({ path: `env ${name}`, found: 'nothing', allowed });
  }
}

const OURS = /^RUNTIME_BROKER_/;

/** Kubernetes gives each pod such variables for each Service of its namespace, so also for one of our own name. */
const SERVICE_LINK = /_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?$/;

/**
 * Variables that look like ours and are not read. Warnings and not faults: an environment is shared with the machine
 * and the platform, and settings of a later version must not stop an older one that is rolled back to.
 */
export function unreadVariables(env: Environment): readonly string[] {
  const known: readonly string[] = [...PLAIN, ...SECRET, ...SECRET.map((name) => `${name}_FILE`)];
  return Object.keys(env)
    .filter((name) => OURS.test(name) && !known.includes(name) && !SERVICE_LINK.test(name))
    .map((name) => {
      const meant = closestName(name, known);
      return `${name} is not read by this version${meant === undefined ? '' : `; did you mean ${meant}?`}`;
    });
}
