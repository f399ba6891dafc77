// From the environment and the file it names to a Config, or to the list of everything that is wrong with them.
// Starting, and what to say to the user, is the caller's business.
import { Secret } from '../domain/secret.ts';
import { readOperatorAuth, readPlatformAuth } from './auth-settings.ts';
import type { Config, ControlPlaneSetting, DatabaseSetting, ListenAddress } from './config.ts';
import { LOG_FORMATS, LOG_LEVELS } from './config.ts';
import { readConfigFile } from './config-file.ts';
import { deepFreeze } from './deep-freeze.ts';
import {
  type Environment,
  type KeptSecretName,
  readChoice,
  type ReadFile,
  readNamedFile,
  readPlain,
  readSecret,
  type Sources,
  unreadVariables,
} from './environment.ts';
import { type ConfigFault, kindOf } from './faults.ts';
import type { Judges } from './judges.ts';
import { readOrKept } from './kept-secrets.ts';
import { LISTEN_ADDRESS_FORM, readListenAddress } from './listen-address.ts';
import { readSealingKeys, SEALING_KEYS_FORM } from './sealing-keys.ts';

/** `warnings` are sentences for the log; they never stop a start. */
export type ConfigResult =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly warnings: readonly string[];
      /** Secrets that came from the data folder, or are to be made there. */
      readonly kept: readonly KeptSecretName[];
    }
  | {
      readonly ok: false;
      readonly faults: readonly ConfigFault[];
      readonly warnings: readonly string[];
    };

export interface ReadingOptions {
  /** For whoever only looks: what the first start would make in the data folder counts as there. */
  readonly withStandIns?: boolean;
}

/** @param readFile the only way to the disk; throws where a file cannot be read */
export function readConfig(
  env: Environment,
  readFile: ReadFile,
  { withStandIns = false, ...judges }: Judges & ReadingOptions,
): ConfigResult {
  const sources: Sources = { env, readFile, judges, faults: [], kept: [], withStandIns };
  const listeners = readListeners(sources);
  const database = readDatabase(sources);
  const platformAuth = readPlatformAuth(sources, {
    database,
    publicListen: listeners.publicListen,
  });
  const operatorAuth = readOperatorAuth(sources, database);
  const sealingKeys = readKeys(sources, database);
  const log = readLog(sources);
  const controlPlane = readControlPlane(sources);
  const file = readFileSettings(sources);
  const warnings = unreadVariables(env);
  if (sources.faults.length > 0 || platformAuth === undefined || sealingKeys === undefined) {
    return { ok: false, faults: sources.faults, warnings };
  }
  const config = {
    ...listeners,
    database,
    platformAuth,
    operatorAuth,
    sealingKeys,
    ...log,
    controlPlane,
    ...file,
  };
  return { ok: true, config: deepFreeze<Config>(config), warnings, kept: sources.kept };
}

function readListeners(sources: Sources) {
  const publicListen = readListener(sources, 'RUNTIME_BROKER_LISTEN', 8080);
  const operatorListen = readListener(sources, 'RUNTIME_BROKER_OPERATOR_LISTEN', 8081);
  const same =
    publicListen.host === operatorListen.host && publicListen.port === operatorListen.port;
  if (same && publicListen.port !== 0) {
    sources.faults.push({
      path: 'env RUNTIME_BROKER_OPERATOR_LISTEN',
      found: 'the address of RUNTIME_BROKER_LISTEN',
      allowed: 'another address or port',
    });
  }
  return { publicListen, operatorListen };
}

function readListener(
  sources: Sources,
  name: 'RUNTIME_BROKER_LISTEN' | 'RUNTIME_BROKER_OPERATOR_LISTEN',
  defaultPort: number,
): ListenAddress {
  const text = readPlain(sources, name);
  const address = text === undefined ? undefined : readListenAddress(text);
  if (text !== undefined && address === undefined) {
    sources.faults.push({ path: `env ${name}`, found: kindOf(text), allowed: LISTEN_ADDRESS_FORM });
  }
  // Loopback unless told otherwise: what is not configured is not offered to a network.
  return address ?? { host: '127.0.0.1', port: defaultPort };
}

const DATABASE_URL_FORM =
  'the URL of a PostgreSQL database, such as postgres://broker@127.0.0.1:5432/broker';

const DEFAULT_DATA_FOLDER = '.runtime-broker';

function readDatabase(sources: Sources): DatabaseSetting {
  const dataFolder = readPlain(sources, 'RUNTIME_BROKER_DATA_DIR') ?? DEFAULT_DATA_FOLDER;
  const faultsBefore = sources.faults.length;
  const url = readSecret(sources, 'DATABASE_URL');
  if (url === undefined && sources.faults.length === faultsBefore) {
    return { kind: 'embedded', dataFolder };
  }
  const found = url && faultOfUrl(url, sources);
  if (found !== undefined) {
    sources.faults.push({ path: 'env DATABASE_URL', found, allowed: DATABASE_URL_FORM });
  }
  return { kind: 'postgres', url: url ?? new Secret('') };
}

const POSTGRES_PROTOCOLS = ['postgres:', 'postgresql:'];

function faultOfUrl(url: Secret, { judges }: Sources): string | undefined {
  const text = url.reveal();
  const isUrl = URL.canParse(text) && POSTGRES_PROTOCOLS.includes(new URL(text).protocol);
  return isUrl ? judges.databaseUrl(url) : 'a text of another form';
}

function readKeys(sources: Sources, database: DatabaseSetting) {
  const text = readOrKept(sources, database, {
    name: 'RUNTIME_BROKER_SEALING_KEYS',
    required: SEALING_KEYS_FORM,
  });
  return text && readSealingKeys(text, sources.faults);
}

function readLog(sources: Sources): Pick<Config, 'logLevel' | 'logFormat'> {
  return {
    logLevel: readChoice(sources, 'RUNTIME_BROKER_LOG_LEVEL', LOG_LEVELS) ?? 'info',
    logFormat: readChoice(sources, 'RUNTIME_BROKER_LOG_FORMAT', LOG_FORMATS),
  };
}

function readControlPlane(sources: Sources): ControlPlaneSetting | undefined {
  const name = 'RUNTIME_BROKER_KCP_KUBECONFIG';
  const path = readPlain(sources, name);
  const text = path === undefined ? undefined : readNamedFile(sources, name, path);
  if (text === undefined) {
    return undefined;
  }
  const kubeconfig = new Secret(text);
  const found = sources.judges.kubeconfig(kubeconfig);
  if (found !== undefined) {
    sources.faults.push({ path: `env ${name}`, found, allowed: KUBECONFIG_FORM });
  }
  return { kubeconfig };
}

const KUBECONFIG_FORM = 'the name of a readable file that is a kubeconfig with all data inside it';

function readFileSettings(sources: Sources) {
  const path = readPlain(sources, 'RUNTIME_BROKER_CONFIG');
  const text =
    path === undefined ? undefined : readNamedFile(sources, 'RUNTIME_BROKER_CONFIG', path);
  return readConfigFile(text, sources);
}
