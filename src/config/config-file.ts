// The configuration file: YAML with a mapping at its top. Only what this version uses is a key.
import { parse, YAMLParseError } from 'yaml';
import type { AddressRules } from '../domain/address-pattern.ts';
import type { KymaInstallation } from '../domain/kyma-installation.ts';
import type { Plan } from '../domain/plan.ts';
import { readAddressRules } from './address-settings.ts';
import type { Sources } from './environment.ts';
import type { ConfigFault } from './faults.ts';
import { integerBetween, textLike } from './kinds.ts';
import { readKymaInstallation } from './kyma-installation-settings.ts';
import { type PlanPlace, readPlans } from './plan-settings.ts';
import { below, mappingAt, readSection } from './section.ts';

const DEFAULT_REGION = 'cf-eu10';

/** What a kubeconfig takes at most on a busy cluster, far below the 60 s after which platforms give up. */
const DEFAULT_CREATE_TIMEOUT_SECONDS = 15;

/** Undoing takes up to 5 s more, and the answer must still reach a platform that waits 60 s. */
const MAX_CREATE_TIMEOUT_SECONDS = 50;

const TOP_KINDS = {
  defaultRegion: textLike(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    'a region, such as cf-eu10 (lower-case letters, digits and dashes)',
  ),
  createTimeoutSeconds: integerBetween(1, MAX_CREATE_TIMEOUT_SECONDS),
};

export interface FileSettings {
  readonly defaultRegion: string;
  readonly createTimeoutSeconds: number;
  readonly clusterAddresses: AddressRules;
  readonly kyma: KymaInstallation;
  readonly plans: readonly Plan[];
}

/** @param text undefined where no file is configured: all defaults */
export function readConfigFile(
  text: string | undefined,
  { faults, judges }: Pick<Sources, 'faults' | 'judges'>,
): FileSettings {
  const top: PlanPlace = { path: '', faults, judgeSchema: judges.parameterSchema };
  const mapping = mappingAt(text === undefined ? undefined : parseYaml(text, faults), top);
  const subsections = ['clusterAddresses', 'kyma', 'plans'];
  const settings = readSection(mapping, { kinds: TOP_KINDS, subsections }, top);
  return {
    defaultRegion: settings.defaultRegion ?? DEFAULT_REGION,
    createTimeoutSeconds: settings.createTimeoutSeconds ?? DEFAULT_CREATE_TIMEOUT_SECONDS,
    clusterAddresses: readAddressRules(mapping['clusterAddresses'], below(top, 'clusterAddresses')),
    kyma: readKymaInstallation(mapping['kyma'], below(top, 'kyma')),
    plans: readPlans(mapping['plans'], below(top, 'plans')),
  };
}

/** The parser's own message is not passed on, since it quotes the file. */
function parseYaml(text: string, faults: ConfigFault[]): unknown {
  try {
    return parse(text, { logLevel: 'error' });
  } catch (error) {
    const at = error instanceof YAMLParseError ? error.linePos?.[0] : undefined;
    const where = at === undefined ? '' : ` (line ${at.line}, column ${at.col})`;
    const cause = error instanceof YAMLParseError ? ` ${error.code}` : '';
    faults.push({
      path: 'the configuration file',
      found: `a text that is not:${cause}${where}`,
      allowed: 'one YAML document',
    });
    return undefined;
  }
}
