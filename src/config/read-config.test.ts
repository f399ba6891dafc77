import { describe, expect, it } from 'vitest';

import { BUILT_IN_PLANS } from '../domain/built-in-plans.ts';
import type { Environment } from './environment.ts';
import { formatFaults } from './faults.ts';
import type { Judges } from './judges.ts';
import { readConfig } from './read-config.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');

const ENOUGH: Environment = {
  DATABASE_URL: 'postgres://broker:pg-secret@db:5432/broker',
  RUNTIME_BROKER_PASSWORD: 'platform-secret',
  RUNTIME_BROKER_SEALING_KEYS: `k1:${KEY}`,
};

/** The driver and the schema compiler have tests of their own; here they find fault only where a test says so. */
const LENIENT: Judges = {
  databaseUrl: () => undefined,
  parameterSchema: () => undefined,
  kubeconfig: () => undefined,
};

function read(
  env: Environment,
  files: Readonly<Record<string, string>> = {},
  judges: Judges = LENIENT,
) {
  const readFile = (path: string): string => {
    const text = files[path];
    if (text === undefined) {
      throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' });
    }
    return text;
  };
  return readConfig(env, readFile, judges);
}

function readYaml(yaml: string, judges: Judges = LENIENT) {
  return read({ ...ENOUGH, RUNTIME_BROKER_CONFIG: 'broker.yaml' }, { 'broker.yaml': yaml }, judges);
}

function configOf(result: ReturnType<typeof read>) {
  if (!result.ok) {
    throw new Error(formatFaults(result.faults));
  }
  return result.config;
}

function faultsOf(result: ReturnType<typeof read>) {
  return result.ok ? [] : result.faults.map(({ path, found }) => `${path}: ${found}`);
}

describe('the environment', () => {
  it('gives the defaults of docs/configuration.md for what is not set', () => {
    const config = configOf(read(ENOUGH));

    expect(config).toMatchObject({
      publicListen: { host: '127.0.0.1', port: 8080 },
      operatorListen: { host: '127.0.0.1', port: 8081 },
      platformAuth: { kind: 'basic', username: 'broker' },
      operatorAuth: { kind: 'closed' },
      logLevel: 'info',
      logFormat: undefined,
      defaultRegion: 'cf-eu10',
      createTimeoutSeconds: 15,
    });
    const { database } = config;
    expect(database.kind === 'postgres' && database.url.reveal()).toBe(
      'postgres://broker:pg-secret@db:5432/broker',
    );
    expect(config.plans).toEqual(BUILT_IN_PLANS);
  });

  it('names in one go everything that a start on PostgreSQL needs', () => {
    expect(faultsOf(read({ DATABASE_URL: ENOUGH['DATABASE_URL'] }))).toEqual([
      'env RUNTIME_BROKER_PASSWORD: nothing',
      'env RUNTIME_BROKER_SEALING_KEYS: nothing',
    ]);
  });

  it.each([
    ['an empty variable counts as absent', { RUNTIME_BROKER_LISTEN: '' }, []],
    ['an IPv6 listener', { RUNTIME_BROKER_LISTEN: '[::1]:0' }, []],
    [
      'a listener without port',
      { RUNTIME_BROKER_LISTEN: 'localhost' },
      ['env RUNTIME_BROKER_LISTEN: a text'],
    ],
    [
      'a port too large',
      { RUNTIME_BROKER_LISTEN: 'localhost:65536' },
      ['env RUNTIME_BROKER_LISTEN: a text'],
    ],
    [
      'a name in brackets',
      { RUNTIME_BROKER_LISTEN: '[1.2.3.4]:80' },
      ['env RUNTIME_BROKER_LISTEN: a text'],
    ],
    [
      'both listeners on one port',
      { RUNTIME_BROKER_LISTEN: '127.0.0.1:8081' },
      ['env RUNTIME_BROKER_OPERATOR_LISTEN: the address of RUNTIME_BROKER_LISTEN'],
    ],
    [
      'both listeners on any free port',
      { RUNTIME_BROKER_LISTEN: '127.0.0.1:0', RUNTIME_BROKER_OPERATOR_LISTEN: '127.0.0.1:0' },
      [],
    ],
    [
      'another database',
      { DATABASE_URL: 'mysql://db' },
      ['env DATABASE_URL: a text of another form'],
    ],
    ['no URL', { DATABASE_URL: 'db' }, ['env DATABASE_URL: a text of another form']],
    [
      'jwt, which is to come',
      { RUNTIME_BROKER_AUTH: 'jwt' },
      ['env RUNTIME_BROKER_AUTH: another text'],
    ],
    ['no authentication on loopback', { RUNTIME_BROKER_AUTH: 'none' }, []],
    [
      'no authentication for all the world',
      { RUNTIME_BROKER_AUTH: 'none', RUNTIME_BROKER_LISTEN: '0.0.0.0:8080' },
      ['env RUNTIME_BROKER_AUTH: none, with a public listener that other machines can reach'],
    ],
    [
      'no authentication for all the world, as told',
      {
        RUNTIME_BROKER_AUTH: 'none',
        RUNTIME_BROKER_LISTEN: '0.0.0.0:8080',
        RUNTIME_BROKER_ALLOW_NO_AUTH: 'true',
      },
      [],
    ],
    [
      'a colon in the user name',
      { RUNTIME_BROKER_USERNAME: 'a:b' },
      ['env RUNTIME_BROKER_USERNAME: a text with a colon'],
    ],
    [
      "a colon in the operators' user name",
      { RUNTIME_BROKER_OPERATOR_USERNAME: 'a:b' },
      ['env RUNTIME_BROKER_OPERATOR_USERNAME: a text with a colon'],
    ],
    [
      "a file of the operators' password that is not there",
      { RUNTIME_BROKER_OPERATOR_PASSWORD_FILE: 'nowhere' },
      [
        'env RUNTIME_BROKER_OPERATOR_PASSWORD_FILE: the name of a file that cannot be read (ENOENT)',
      ],
    ],
    [
      'a level of another logger',
      { RUNTIME_BROKER_LOG_LEVEL: 'verbose' },
      ['env RUNTIME_BROKER_LOG_LEVEL: another text'],
    ],
    [
      'a secret twice',
      { RUNTIME_BROKER_PASSWORD_FILE: 'password' },
      [
        'env RUNTIME_BROKER_PASSWORD: both RUNTIME_BROKER_PASSWORD and RUNTIME_BROKER_PASSWORD_FILE',
      ],
    ],
    [
      'a secret in a file that is not there',
      { DATABASE_URL: undefined, DATABASE_URL_FILE: 'nowhere' },
      ['env DATABASE_URL_FILE: the name of a file that cannot be read (ENOENT)'],
    ],
    [
      'a configuration file that is not there',
      { RUNTIME_BROKER_CONFIG: 'nowhere' },
      ['env RUNTIME_BROKER_CONFIG: the name of a file that cannot be read (ENOENT)'],
    ],
  ])('%s', (_, env: Environment, faults: readonly string[]) => {
    expect(faultsOf(read({ ...ENOUGH, ...env }, { password: 'x' }))).toEqual(faults);
  });

  it('takes a secret from a file, without the line break of an editor', () => {
    const env = {
      ...ENOUGH,
      RUNTIME_BROKER_PASSWORD: '',
      RUNTIME_BROKER_PASSWORD_FILE: 'password',
    };
    const { platformAuth } = configOf(read(env, { password: ' with blanks \n' }));

    expect(platformAuth.kind === 'basic' && platformAuth.password.reveal()).toBe(' with blanks ');
  });

  it('knows operators by a user and a password of their own', () => {
    const env = {
      ...ENOUGH,
      RUNTIME_BROKER_OPERATOR_USERNAME: 'duty',
      RUNTIME_BROKER_OPERATOR_PASSWORD_FILE: 'password',
    };
    const { operatorAuth } = configOf(read(env, { password: 'of operators\n' }));

    expect(operatorAuth).toMatchObject({ kind: 'basic', username: 'duty' });
    expect(operatorAuth.kind === 'basic' && operatorAuth.password.reveal()).toBe('of operators');
  });

  it('asks for no password without authentication', () => {
    const env = { ...ENOUGH, RUNTIME_BROKER_PASSWORD: undefined, RUNTIME_BROKER_AUTH: 'none' };

    expect(configOf(read(env)).platformAuth).toEqual({ kind: 'none' });
  });

  it.each([
    ['no pair', 'k1', 'a text without a colon'],
    ['no id', `:${KEY}`, 'an id that is not 1 to 64 letters, digits, dots, dashes or underscores'],
    ['a short key', 'k1:AAAA', 'a key of 3 bytes'],
    ['a slip in the base64', `k1:${KEY.replace('B', '*')}`, 'a key that is not base64'],
  ])('refuses sealing keys: %s', (_, keys, found) => {
    const env = { ...ENOUGH, RUNTIME_BROKER_SEALING_KEYS: keys };

    expect(faultsOf(read(env))).toEqual([`env RUNTIME_BROKER_SEALING_KEYS, key 1: ${found}`]);
  });

  it('keeps the order of sealing keys and refuses an id twice', () => {
    const other = Buffer.alloc(32, 9).toString('base64');
    const two = { ...ENOUGH, RUNTIME_BROKER_SEALING_KEYS: `new:${KEY}, old:${other}` };
    const twice = { ...ENOUGH, RUNTIME_BROKER_SEALING_KEYS: `k:${KEY},k:${other}` };

    const keys = configOf(read(two)).sealingKeys;
    expect(keys.map(({ id, key }) => [id, key.reveal()[0]])).toEqual([
      ['new', 7],
      ['old', 9],
    ]);
    expect(faultsOf(read(twice))).toEqual([
      'env RUNTIME_BROKER_SEALING_KEYS, key 2: the id of a key before it',
    ]);
  });

  it('warns of a variable that nobody reads, but not of those that Kubernetes makes', () => {
    const result = read({
      ...ENOUGH,
      RUNTIME_BROKER_PASWORD: 'x',
      RUNTIME_BROKER_SERVICE_HOST: '10.0.0.1',
      RUNTIME_BROKER_SERVICE_PORT_HTTP: '8080',
      RUNTIME_BROKER_PORT_8080_TCP_ADDR: '10.0.0.1',
    });

    expect(result.ok).toBe(true);
    expect(result.warnings).toEqual([
      'RUNTIME_BROKER_PASWORD is not read by this version; did you mean RUNTIME_BROKER_PASSWORD?',
    ]);
  });

  it('shows no value in a fault and no secret in a configuration', () => {
    const secrets = ['pg-secret', 'platform-secret', KEY, 'a-key-with-a-slip'];
    const wrong = read({
      RUNTIME_BROKER_LISTEN: 'platform-secret',
      RUNTIME_BROKER_LOG_LEVEL: 'platform-secret',
      DATABASE_URL: 'pg-secret',
      RUNTIME_BROKER_SEALING_KEYS: 'k1:a-key-with-a-slip',
    });
    const texts = [
      wrong.ok ? '' : formatFaults(wrong.faults),
      JSON.stringify(configOf(read(ENOUGH))),
    ];

    expect(texts[0]).toContain('The configuration has 5 faults:');
    for (const secret of secrets) {
      expect(texts.join('\n')).not.toContain(secret);
    }
  });

  it('is frozen all the way down', () => {
    const config = configOf(read(ENOUGH));

    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.plans)).toBe(true);
    expect(Object.isFrozen(config.plans[0]?.binding)).toBe(true);
    expect(Object.isFrozen(config.publicListen)).toBe(true);
  });
});

describe('the configuration file', () => {
  it('may be empty', () => {
    expect(configOf(readYaml('')).plans).toHaveLength(8);
  });

  it('changes a built-in plan key by key', () => {
    const { plans } = configOf(readYaml('plans: {aws: {binding: {maxLive: 3}, enabled: false}}'));

    expect(plans.find(({ name }) => name === 'aws')).toEqual({
      ...BUILT_IN_PLANS.find(({ name }) => name === 'aws'),
      enabled: false,
      binding: { defaultSeconds: 600, minSeconds: 600, maxSeconds: 7200, maxLive: 3 },
    });
  });

  it('adds a plan, which takes what it does not say from a built-in one of its provisioner', () => {
    const yaml = `
defaultRegion: cf-us10
createTimeoutSeconds: 30
plans:
  staging:
    id: 1c9f3d6e-0000-4000-8000-000000000001
    description: Our staging cluster
    provisioner: own-cluster
    namespace: grants
    schemas:
      create: {type: object}
`;
    const config = configOf(readYaml(yaml));

    expect(config).toMatchObject({ defaultRegion: 'cf-us10', createTimeoutSeconds: 30 });
    expect(config.plans.at(-1)).toMatchObject({
      id: '1c9f3d6e-0000-4000-8000-000000000001',
      name: 'staging',
      displayName: 'staging',
      enabled: true,
      bindable: true,
      free: true,
      provisioner: 'own-cluster',
      namespace: 'grants',
      maximumPollingSeconds: 900,
      schemas: {
        create: { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' },
      },
    });
  });

  it.each([
    ['a list', '- 1', ['the configuration file: a list']],
    [
      'not YAML',
      'a: b: c',
      ['the configuration file: a text that is not: BLOCK_AS_IMPLICIT_KEY (line 1, column 4)'],
    ],
    [
      'a key twice',
      'plans: {}\nplans: {}',
      ['the configuration file: a text that is not: DUPLICATE_KEY (line 2, column 1)'],
    ],
    ['plans as a list', 'plans: [aws]', ['plans: a list']],
    ['a plan as a text', 'plans: {aws: on}', ['plans.aws: a text']],
    ['a number as a text', 'createTimeoutSeconds: "15"', ['createTimeoutSeconds: a text']],
    ['no time at all', 'createTimeoutSeconds: 0', ['createTimeoutSeconds: the number 0']],
    ['an unknown key', 'defaultregion: x', ['defaultregion: an unknown key']],
    ['a key of JavaScript', '__proto__: {}', ['__proto__: an unknown key']],
    [
      'another key of JavaScript',
      'plans: {aws: {constructor: 1}}',
      ['plans.aws.constructor: an unknown key'],
    ],
    [
      'a lifetime that no API server grants',
      'plans: {aws: {binding: {minSeconds: 599}}}',
      ['plans.aws.binding.minSeconds: the number 599'],
    ],
    [
      'a default above the maximum',
      'plans: {aws: {binding: {defaultSeconds: 7201}}}',
      ['plans.aws.binding.defaultSeconds: the number 7201'],
    ],
    [
      'a minimum above the maximum',
      'plans: {aws: {binding: {minSeconds: 1200, maxSeconds: 900}}}',
      ['plans.aws.binding.minSeconds: the number 1200'],
    ],
    [
      'no slot',
      'plans: {aws: {binding: {maxLive: 0}}}',
      ['plans.aws.binding.maxLive: the number 0'],
    ],
    ['a namespace with dots', 'plans: {aws: {namespace: a.b}}', ['plans.aws.namespace: a text']],
    [
      'a namespace too long',
      `plans: {aws: {namespace: ${'a'.repeat(64)}}}`,
      ['plans.aws.namespace: a text'],
    ],
    [
      'an unknown provisioner',
      'plans: {aws: {provisioner: hcloud}}',
      ['plans.aws.provisioner: a text'],
    ],
    [
      'a new plan that says nothing',
      'plans: {mine: {}}',
      [
        'plans.mine.id: nothing',
        'plans.mine.description: nothing',
        'plans.mine.provisioner: nothing',
      ],
    ],
    [
      'the id of another plan',
      'plans: {aws: {id: 4deee563-e5ec-4731-b9b1-53b42d855f0c}}',
      ['plans.azure.id: the id of plan aws'],
    ],
    [
      'a schema of another draft',
      'plans: {aws: {schemas: {create: {$schema: "https://json-schema.org/draft/2020-12/schema"}}}}',
      ['plans.aws.schemas.create: a mapping'],
    ],
    [
      'a schema that points elsewhere',
      'plans: {aws: {schemas: {create: {properties: {a: {$ref: "http://example.org/a"}}}}}}',
      ['plans.aws.schemas.create: a mapping'],
    ],
    [
      'schemas of what nothing could hold',
      'plans: {aws: {schemas: {bind: {}}}}',
      ['plans.aws.schemas.bind: an unknown key'],
    ],
    [
      'a schema of updates of another draft',
      'plans: {aws: {schemas: {update: {$schema: "https://json-schema.org/draft/2020-12/schema"}}}}',
      ['plans.aws.schemas.update: a mapping'],
    ],
    [
      'what JSON does not know',
      'plans: {aws: {schemas: {create: {maximum: .inf}}}}',
      ['plans.aws.schemas.create: a mapping'],
    ],
    [
      'several at once',
      'plans: {aws: {fre: true, binding: {maxlive: 1}, schemas: {}}, "-x": {id: a, description: b, provisioner: kyma}}',
      [
        'plans.aws.fre: an unknown key',
        'plans.aws.binding.maxlive: an unknown key',
        'plans.-x: a name with other characters or of another length',
      ],
    ],
  ])('refuses %s', (_, yaml, faults) => {
    expect(faultsOf(readYaml(yaml))).toEqual(faults);
  });

  it.each([
    ['plans: {aws: {binding: {maxlive: 1}}}', '(did you mean maxLive?)'],
    ['plan: {}', '(did you mean plans?)'],
    ['default_region: x', '(did you mean defaultRegion?)'],
  ])('names the key that was probably meant: %s', (yaml, hint) => {
    const result = readYaml(yaml);

    expect(result.ok ? '' : formatFaults(result.faults)).toContain(hint);
  });

  it('tells what a schema compiler and a database driver find at once with all else', () => {
    const yaml = `
plans:
  aws: {schemas: {create: {type: strin}}}
  mine: {schemas: {create: {type: strin}}, id: mine}
`;
    const judged = readYaml(yaml, {
      ...LENIENT,
      databaseUrl: () => 'a URL of no use',
      parameterSchema: ({ type }) => (type === 'strin' ? 'a schema of no use' : undefined),
    });

    expect(faultsOf(judged)).toEqual([
      'env DATABASE_URL: a URL of no use',
      'plans.aws.schemas.create: a schema of no use',
      'plans.mine.schemas.create: a schema of no use',
      'plans.mine.description: nothing',
      'plans.mine.provisioner: nothing',
    ]);
  });

  it('quotes nothing of a file that cannot be parsed', () => {
    const result = readYaml('password: hunter2: x');

    expect(result.ok ? '' : formatFaults(result.faults)).toContain('line 1');
    expect(result.ok ? '' : formatFaults(result.faults)).not.toContain('hunter2');
  });
});

describe('the control plane', () => {
  const env = { ...ENOUGH, RUNTIME_BROKER_KCP_KUBECONFIG: 'kcp.yaml' };

  it('is what a kubeconfig leads to, whose text is a secret', () => {
    const config = configOf(read(env, { 'kcp.yaml': 'apiVersion: v1' }));
    expect(config.controlPlane?.kubeconfig.reveal()).toBe('apiVersion: v1');
    expect(JSON.stringify(config)).not.toContain('apiVersion');
    expect(configOf(read(ENOUGH)).controlPlane).toBeUndefined();
  });

  it('is a fault where the file cannot be read, or is no kubeconfig', () => {
    expect(faultsOf(read(env))).toEqual([
      'env RUNTIME_BROKER_KCP_KUBECONFIG: the name of a file that cannot be read (ENOENT)',
    ]);
    const judges: Judges = { ...LENIENT, kubeconfig: () => 'a file of no use' };
    expect(faultsOf(read(env, { 'kcp.yaml': 'x' }, judges))).toEqual([
      'env RUNTIME_BROKER_KCP_KUBECONFIG: a file of no use',
    ]);
  });

  it('has what is the same for all its runtimes', () => {
    expect(configOf(read(ENOUGH)).kyma).toEqual({
      channel: 'regular',
      modules: [],
      pollSeconds: 10,
      secretBindings: { aws: 'aws', azure: 'azure', gcp: 'gcp' },
    });
    const yaml = `
kyma:
  channel: fast
  modules: [{name: btp-operator}, {name: istio, channel: regular}]
  pollSeconds: 5
  secretBindings: {gcp: account-3}
`;
    expect(configOf(readYaml(yaml)).kyma).toEqual({
      channel: 'fast',
      modules: [{ name: 'btp-operator' }, { name: 'istio', channel: 'regular' }],
      pollSeconds: 5,
      secretBindings: { aws: 'aws', azure: 'azure', gcp: 'account-3' },
    });
  });

  it.each([
    ['kyma: {channel: F}', 'kyma.channel: a text'],
    ['kyma: {modules: [istio]}', 'kyma.modules: a list'],
    ['kyma: {modules: [{name: istio, canal: fast}]}', 'kyma.modules: a list'],
    ['kyma: {pollSeconds: 0}', 'kyma.pollSeconds: the number 0'],
    ['kyma: {secretBindings: {aws: A B}}', 'kyma.secretBindings.aws: a text'],
    ['kyma: {secretBindings: {openstack: a}}', 'kyma.secretBindings.openstack: an unknown key'],
  ])('tells the fault of %s', (yaml, fault) => {
    expect(faultsOf(readYaml(yaml))).toEqual([fault]);
  });
});
