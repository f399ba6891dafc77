// What whoever starts the embedded default must be told: that it is not for production, and why, and where its passwords
// lie. Never a password: logs are kept and passed on.
import { resolve } from 'node:path';
import { keptSecretPath } from '../config/kept-secrets.ts';
import type { Logger } from '../observability/logger.ts';
import type { Configured } from './configured.ts';

/** Each a reason why production has DATABASE_URL and more. */
const NOT_FOR_PRODUCTION = [
  'one process alone can use its database',
  'the database does not wait for the disk, so a power cut can lose what was last written',
  'passwords and keys lie beside the data that they protect',
  'HTTP is not encrypted',
  'clusters of the plan sandbox live in this process, and run nothing',
];

/** Says nothing on PostgreSQL. */
export function tellEmbedded(
  log: Logger,
  { config: { database, platformAuth, operatorAuth }, kept }: Pick<Configured, 'config' | 'kept'>,
): void {
  if (database.kind === 'postgres') {
    return;
  }
  const dataFolder = resolve(database.dataFolder);
  log.warn(
    { dataFolder, because: NOT_FOR_PRODUCTION },
    'this is the embedded default, for trying out and not for production: set DATABASE_URL there',
  );
  if (platformAuth.kind === 'basic' && kept.includes('RUNTIME_BROKER_PASSWORD')) {
    const passwordFile = keptSecretPath(dataFolder, 'RUNTIME_BROKER_PASSWORD');
    log.info(
      { username: platformAuth.username, passwordFile },
      'platforms sign in as this user with the password in this file',
    );
  }
  if (operatorAuth.kind === 'basic' && kept.includes('RUNTIME_BROKER_OPERATOR_PASSWORD')) {
    const passwordFile = keptSecretPath(dataFolder, 'RUNTIME_BROKER_OPERATOR_PASSWORD');
    log.info(
      { username: operatorAuth.username, passwordFile },
      'operators sign in as this user with the password in this file',
    );
  }
}
