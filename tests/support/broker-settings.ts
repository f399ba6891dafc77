// The environment of a broker under test: every secret drawn anew and given to the leak record, every port free.

import { randomBytes } from 'node:crypto';
import { recordSecret } from './leak-record.ts';

export interface BrokerSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly username: string;
  readonly password: string;
  /** Of operators, on their listener. */
  readonly operator: Credentials;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export function brokerSettings(
  databaseUrl: string,
  changes: Readonly<Record<string, string>> = {},
): BrokerSettings {
  const password = randomBytes(18).toString('base64url');
  const operatorPassword = randomBytes(18).toString('base64url');
  const key = randomBytes(32).toString('base64');
  recordSecret('password of the platform', password);
  recordSecret('password of operators', operatorPassword);
  recordSecret('sealing key', key);
  const username = 'broker';
  return {
    username,
    password,
    operator: { username: 'operator', password: operatorPassword },
    env: {
      RUNTIME_BROKER_LISTEN: '127.0.0.1:0',
      RUNTIME_BROKER_OPERATOR_LISTEN: '127.0.0.1:0',
      DATABASE_URL: databaseUrl,
      RUNTIME_BROKER_PASSWORD: password,
      RUNTIME_BROKER_OPERATOR_PASSWORD: operatorPassword,
      RUNTIME_BROKER_SEALING_KEYS: `first:${key}`,
      RUNTIME_BROKER_LOG_LEVEL: 'debug',
      RUNTIME_BROKER_LOG_FORMAT: 'json',
      ...changes,
    },
  };
}

/** Of the embedded default, which makes its own secrets. */
export function embeddedSettings(dataFolder: string): Readonly<Record<string, string>> {
  return {
    RUNTIME_BROKER_LISTEN: '127.0.0.1:0',
    RUNTIME_BROKER_OPERATOR_LISTEN: '127.0.0.1:0',
    RUNTIME_BROKER_DATA_DIR: dataFolder,
    RUNTIME_BROKER_LOG_LEVEL: 'debug',
    RUNTIME_BROKER_LOG_FORMAT: 'json',
  };
}
