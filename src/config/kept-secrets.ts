// The secrets that the embedded default keeps in its data folder: one file each, with the plain value, so that
// `$(cat …)` is all it takes to use one. Making them is app/data-folder.ts's business; here they are found and read.
import { join } from 'node:path';
import { Secret } from '../domain/secret.ts';
import type { DatabaseSetting } from './config.ts';
import {
  KEPT_SECRETS,
  type KeptSecretName,
  noteMissing,
  readSecret,
  type Sources,
} from './environment.ts';

export function keptSecretPath(dataFolder: string, name: KeptSecretName): string {
  return join(dataFolder, KEPT_SECRETS[name]);
}

/** Of the right form and never in force: whoever serves has the real ones made first. */
const STAND_INS: Readonly<Record<KeptSecretName, string>> = {
  RUNTIME_BROKER_PASSWORD: 'made at the first start',
  RUNTIME_BROKER_OPERATOR_PASSWORD: 'made at the first start',
  RUNTIME_BROKER_SEALING_KEYS: `made-at-first-start:${Buffer.alloc(32).toString('base64')}`,
};

interface WantedSecret {
  readonly name: KeptSecretName;
  /** What it would be, in words; undefined where PostgreSQL does without it. */
  readonly required: string | undefined;
}

/** From the environment; else, with the embedded database, from where the first start has put it. */
export function readOrKept(
  sources: Sources,
  database: DatabaseSetting,
  { name, required }: WantedSecret,
): Secret | undefined {
  const faultsBefore = sources.faults.length;
  const given = readSecret(sources, name);
  if (given !== undefined || sources.faults.length > faultsBefore) {
    return given;
  }
  if (database.kind === 'embedded') {
    return readKeptSecret(sources, database.dataFolder, name);
  }
  if (required !== undefined) {
    noteMissing(sources, name, required);
  }
  return undefined;
}

/** @returns undefined where it is missing or of no use, which is noted as a fault */
function readKeptSecret(
  sources: Sources,
  dataFolder: string,
  name: KeptSecretName,
): Secret | undefined {
  const path = keptSecretPath(dataFolder, name);
  sources.kept.push(name);
  let found = 'an empty file';
  try {
    const text = sources.readFile(path).trim();
    if (text !== '') {
      return new Secret(text);
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no reason given';
    if (code === 'ENOENT' && sources.withStandIns) {
      return new Secret(STAND_INS[name]);
    }
    found = `a file that cannot be read (${code})`;
  }
  sources.faults.push({ path, found, allowed: `the secret that ${name} would hold` });
  return undefined;
}
