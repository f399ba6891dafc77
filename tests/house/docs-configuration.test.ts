// Holds docs/configuration.md and src/config to each other: every variable and key that the code reads is in the page
// and the other way round, with the words for what is allowed and the defaults that the code has.

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { describe, expect, it } from 'vitest';

import { JUDGES } from '../../src/app/configured.ts';
import type { ConfigFault } from '../../src/config/faults.ts';
import { type ConfigResult, readConfig } from '../../src/config/read-config.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(join(REPOSITORY, 'docs/configuration.md'), 'utf8');

const REQUIRED = {
  DATABASE_URL: 'postgres://broker@127.0.0.1/broker',
  RUNTIME_BROKER_PASSWORD: 'sesame-open',
  RUNTIME_BROKER_SEALING_KEYS: `first:${Buffer.alloc(32).toString('base64')}`,
};

interface Row {
  readonly name: string;
  readonly standard: string;
  readonly allowed: string;
}

/** The rows of all tables between two headings; a name may carry a mark behind it. */
function rowsBetween(from: string, to: string): readonly Row[] {
  const section = PAGE.slice(PAGE.indexOf(`\n${from}\n`), PAGE.indexOf(`\n${to}\n`));
  const rows = section.matchAll(/^\| `([^`]+)`[^|]*\| ([^|]+?) +\| ([^|]+?) +\| [^|]+ \|$/gm);
  return [...rows].map(([, name = '', standard = '', allowed = '']) => ({
    name,
    standard,
    allowed,
  }));
}

const VARIABLES = rowsBetween('## Environment variables', '## The YAML file');
const KEYS = rowsBetween('## The YAML file', '### An example');

function withFile(yaml: string, env: Readonly<Record<string, string>> = {}): ConfigResult {
  return readConfig({ ...REQUIRED, RUNTIME_BROKER_CONFIG: 'file', ...env }, () => yaml, JUDGES);
}

function faultsOf(result: ConfigResult): readonly ConfigFault[] {
  if (result.ok) throw new Error('no fault');
  return result.faults;
}

function configOf(result: ConfigResult) {
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.config;
}

function operatorOf(result: ConfigResult): string {
  const { operatorAuth } = configOf(result);
  return operatorAuth.kind === 'basic' ? operatorAuth.username : operatorAuth.kind;
}

/** All names in quotation marks in the sources of src/config that look like a variable of ours. */
function namesInCode(): readonly string[] {
  const folder = join(REPOSITORY, 'src/config');
  const sources = readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  const names = sources.join('\n').matchAll(/'(RUNTIME_BROKER_[A-Z_]+|DATABASE_URL)'/g);
  return [...new Set([...names].map(([, name = '']) => name))];
}

/** The keys that the code names when it meets one that it does not know. */
function keysInCode(): readonly string[] {
  const faults = faultsOf(
    withFile(
      'unknown: 1\nclusterAddresses: {unknown: 1}\nkyma: {unknown: 1, secretBindings: {unknown: 1}}\nplans: {new: {unknown: 1, binding: {unknown: 1}, schemas: {unknown: 1}}}',
    ),
  );
  return faults
    .filter(({ found }) => found === 'an unknown key')
    .flatMap(({ path, allowed }) => {
      const place = path.replace(/unknown$/, '').replace('plans.new.', 'plans.<name>.');
      const names = allowed.replace(/^one of /, '').split(', ');
      return names.map((name) => `${place}${name}`);
    })
    .filter((key) => !['plans.<name>.binding', 'plans.<name>.schemas'].includes(key));
}

/** A file in which every key has a value of no kind that any key takes. */
const NOTHING_FITS = `
defaultRegion: []
createTimeoutSeconds: []
clusterAddresses: {allow: 1, deny: 1}
kyma: {channel: 1, modules: 1, pollSeconds: a, secretBindings: {aws: 1, azure: 1, gcp: 1}}
plans:
  own_cluster: {id: [], description: [], displayName: [], enabled: [], bindable: [], free: [], provisioner: [],
    namespace: [], maximumPollingSeconds: [],
    binding: {defaultSeconds: [], minSeconds: [], maxSeconds: [], maxLive: []},
    schemas: {create: [], update: []}}
`;

/** As far as a text can be wrong for each. */
const WRONG_ENVIRONMENT = {
  DATABASE_URL: 'x',
  RUNTIME_BROKER_LISTEN: 'x',
  RUNTIME_BROKER_OPERATOR_LISTEN: 'x',
  RUNTIME_BROKER_AUTH: 'x',
  RUNTIME_BROKER_ALLOW_NO_AUTH: 'x',
  RUNTIME_BROKER_USERNAME: 'a:b',
  RUNTIME_BROKER_OPERATOR_USERNAME: 'a:b',
  RUNTIME_BROKER_CONFIG: 'x',
  RUNTIME_BROKER_KCP_KUBECONFIG: 'x',
  RUNTIME_BROKER_LOG_LEVEL: 'x',
  RUNTIME_BROKER_LOG_FORMAT: 'x',
};

/** Any text names a folder; any is a password, and this one is not required. */
const FREE_TEXTS = new Set(['RUNTIME_BROKER_DATA_DIR', 'RUNTIME_BROKER_OPERATOR_PASSWORD']);

describe('docs/configuration.md', () => {
  it('names the variables that the code reads, and no other', () => {
    expect(VARIABLES.map(({ name }) => name).toSorted()).toEqual([...namesInCode()].toSorted());
  });

  it('names only variables that the code does not warn of', () => {
    const env = Object.fromEntries(VARIABLES.map(({ name }) => [name, 'x']));
    expect(readConfig(env, () => '', JUDGES).warnings).toEqual([]);
  });

  it('marks exactly the secrets, which may come from a file', () => {
    const marked = [...PAGE.matchAll(/^\| `([A-Z_]+)` ●/gm)].map(([, name = '']) => name);
    const readFromFile = VARIABLES.filter(({ name }) => {
      const env = { ...REQUIRED, [name]: '', [`${name}_FILE`]: 'file' };
      const { warnings } = readConfig(env, () => REQUIRED.DATABASE_URL, JUDGES);
      return !warnings.some((warning) => warning.startsWith(`${name}_FILE `));
    });
    expect(marked).toEqual(readFromFile.map(({ name }) => name));
  });

  it('says what each variable allows in the words of the code', () => {
    const faults = faultsOf(
      readConfig(
        WRONG_ENVIRONMENT,
        () => {
          throw new Error('no such file');
        },
        JUDGES,
      ),
    );
    const limited = VARIABLES.filter(({ name }) => !FREE_TEXTS.has(name));
    const allowed = Object.fromEntries(limited.map((row) => [`env ${row.name}`, row.allowed]));
    expect(allowed).toEqual(Object.fromEntries(faults.map((fault) => [fault.path, fault.allowed])));
  });

  it('names the keys that the code reads, and no other', () => {
    expect(KEYS.map(({ name }) => name).toSorted()).toEqual([...keysInCode()].toSorted());
  });

  it('says what each key allows in the words of the code', () => {
    const faults = faultsOf(withFile(NOTHING_FITS)).map(({ path, allowed }) => [
      path.replace('plans.own_cluster', 'plans.<name>'),
      allowed,
    ]);
    const documented = KEYS.map(({ name, allowed }) => [name, allowed]);
    expect(Object.fromEntries(documented)).toEqual(
      Object.fromEntries([
        ...['clusterAddresses', 'kyma', 'kyma.secretBindings', 'plans'].map((key) => [
          key,
          'a mapping',
        ]),
        ...faults,
      ]),
    );
  });

  it('has the defaults of the code', () => {
    const config = configOf(readConfig(REQUIRED, () => '', JUDGES));
    const standards = Object.fromEntries(
      [...VARIABLES, ...KEYS].map((row) => [row.name, row.standard]),
    );
    const address = ({ host, port }: { host: string; port: number }) => `\`${host}:${port}\``;
    const plan = config.plans.find(({ name }) => name === 'own_cluster');
    expect(standards).toMatchObject({
      RUNTIME_BROKER_LISTEN: address(config.publicListen),
      RUNTIME_BROKER_OPERATOR_LISTEN: address(config.operatorListen),
      RUNTIME_BROKER_AUTH: `\`${config.platformAuth.kind}\``,
      RUNTIME_BROKER_USERNAME: `\`${'username' in config.platformAuth ? config.platformAuth.username : ''}\``,
      RUNTIME_BROKER_OPERATOR_USERNAME: `\`${operatorOf(withFile('', { RUNTIME_BROKER_OPERATOR_PASSWORD: 'x' }))}\``,
      RUNTIME_BROKER_LOG_LEVEL: `\`${config.logLevel}\``,
      defaultRegion: `\`${config.defaultRegion}\``,
      createTimeoutSeconds: `\`${config.createTimeoutSeconds}\``,
      'kyma.channel': `\`${config.kyma.channel}\``,
      'kyma.pollSeconds': `\`${config.kyma.pollSeconds}\``,
      'kyma.secretBindings.aws': `\`${config.kyma.secretBindings.aws}\``,
      'kyma.secretBindings.azure': `\`${config.kyma.secretBindings.azure}\``,
      'kyma.secretBindings.gcp': `\`${config.kyma.secretBindings.gcp}\``,
      'plans.<name>.enabled': `\`${plan?.enabled}\``,
      'plans.<name>.bindable': `\`${plan?.bindable}\``,
      'plans.<name>.namespace': `\`${plan?.namespace}\``,
      'plans.<name>.maximumPollingSeconds': `\`${plan?.maximumPollingSeconds}\` (\`7200\` for \`kyma\`)`,
      'plans.<name>.binding.defaultSeconds': `\`${plan?.binding.defaultSeconds}\``,
      'plans.<name>.binding.minSeconds': `\`${plan?.binding.minSeconds}\``,
      'plans.<name>.binding.maxSeconds': `\`${plan?.binding.maxSeconds}\``,
      'plans.<name>.binding.maxLive': `\`${plan?.binding.maxLive}\``,
    });
  });

  it('has an example file that the code takes', () => {
    const yaml = /```yaml\n([\s\S]+?)```/.exec(PAGE)?.[1] ?? '';
    const { plans } = configOf(withFile(yaml));
    const added = plans.find(({ name }) => name === 'build-farm');
    expect(added?.binding).toEqual({
      defaultSeconds: 7200,
      minSeconds: 600,
      maxSeconds: 7200,
      maxLive: 10,
    });
  });
});
