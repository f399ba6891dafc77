// The server binary as a shell sees it: what it prints and with which status it ends, where it cannot or need not serve.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runMain } from '../../support/broker-process.ts';
import { brokerSettings } from '../../support/broker-settings.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { describeWith } from '../../support/needs.ts';

/** Nothing listens there: port 1 is for a protocol that nobody runs, and only root could. */
const NO_DATABASE = 'postgres://broker@127.0.0.1:1/broker';

const USAGE =
  'Usage: runtime-broker [serve | migrate | check-config | cleanup | rotate-keys | confirm-restore]';

describe('a configuration with faults', () => {
  it('is told whole, at once and without values, and ends with status 2', async () => {
    const run = runMain([], {
      DATABASE_URL: 'mysql://sesame:open-sesame@127.0.0.1/broker',
      RUNTIME_BROKER_LISTEN: 'everywhere',
      RUNTIME_BROKER_SEALING_KEYS: 'first:c2hvcnQ=',
      RUNTIME_BROKER_LOG_LEVEL: 'loud',
    });

    expect(await run.ended()).toBe(2);
    expect(run.output()).toContain('The configuration has 5 faults:\n');
    for (const path of [
      'env DATABASE_URL:',
      'env RUNTIME_BROKER_LISTEN:',
      'env RUNTIME_BROKER_PASSWORD:',
      'env RUNTIME_BROKER_SEALING_KEYS, key 1:',
      'env RUNTIME_BROKER_LOG_LEVEL:',
    ]) {
      expect(run.output()).toContain(`- ${path} expected `);
    }
    expect(run.output()).not.toMatch(/sesame|everywhere|c2hvcnQ|loud/);
    expect(run.output()).not.toContain('listening');
  });

  it('is told with the names that look like ours and are not read', async () => {
    const { RUNTIME_BROKER_PASSWORD: _, ...env } = brokerSettings(NO_DATABASE).env;
    const run = runMain([], { ...env, RUNTIME_BROKER_PASWORD: 'open-sesame-please' });

    expect(await run.ended()).toBe(2);
    expect(run.output()).toContain('- env RUNTIME_BROKER_PASSWORD: expected ');
    expect(run.output()).toContain('RUNTIME_BROKER_PASWORD is not read');
    expect(run.output()).toContain('did you mean RUNTIME_BROKER_PASSWORD?');
  });
});

describe('settings that only the driver or the schema compiler can judge', () => {
  it.each([
    ['serve', 'postgres://open-sesame@h/db?sslrootcert=/nope', '(ENOENT)'],
    ['migrate', 'postgres://%ff@open-sesame/db', 'does not take'],
  ])('are faults of the configuration: %s', async (command, url, found) => {
    const run = runMain([command], brokerSettings(url).env);

    expect(await run.ended()).toBe(2);
    expect(run.output()).toMatch(
      /^The configuration has one fault:\n- env DATABASE_URL: expected [^\n]+\n$/,
    );
    expect(run.output()).toContain(found);
    expect(run.output()).not.toContain('sesame');
  });

  it('name the schema, all at once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'runtime-broker-'));
    const file = join(folder, 'broker.yaml');
    await writeFile(
      file,
      `plans:
  aws: {schemas: {create: {type: strin}}}
  gcp: {schemas: {create: {properties: {name: {pattern: '(?=a)'}}}}}
`,
    );
    const run = runMain([], brokerSettings(NO_DATABASE, { RUNTIME_BROKER_CONFIG: file }).env);

    expect(await run.ended()).toBe(2);
    expect(run.output()).toMatch(
      /^The configuration has 2 faults:\n- plans\.aws\.schemas\.create: .+\n- plans\.gcp\.schemas\.create: .+\n$/,
    );
    await rm(folder, { recursive: true });
  });
});

describe('a command line with faults', () => {
  it.each([
    [['constructor'], 'There is no command "constructor".'],
    [['migrate', 'now'], '"migrate" takes no arguments.'],
  ])('%j says so, names the commands and ends with status 2', async (args, fault) => {
    const run = runMain(args, brokerSettings(NO_DATABASE).env);

    expect(await run.ended()).toBe(2);
    expect(run.output()).toBe(`${fault}\n${USAGE}\n`);
  });
});

describe('arguments that a command does not take', () => {
  it.each([
    [['cleanup', '--dry'], "Unknown option '--dry'.", 'cleanup [--dry-run] [--orphans]'],
    [['cleanup', 'all'], "Unexpected argument 'all'.", 'cleanup [--dry-run] [--orphans]'],
    [['rotate-keys', '--force'], "Unknown option '--force'.", 'rotate-keys'],
    [
      ['confirm-restore', '--reason', 'x'],
      '"confirm-restore" takes the id of one instance.',
      'confirm-restore INSTANCE --reason TEXT',
    ],
    [
      ['confirm-restore', 'i'],
      '--reason must not be empty.',
      'confirm-restore INSTANCE --reason TEXT',
    ],
    [
      ['confirm-restore', '..', '--reason', 'x'],
      'INSTANCE must not be "." or "..".',
      'confirm-restore INSTANCE --reason TEXT',
    ],
  ])(
    '%j is told with its usage, before anything is reached, with status 2',
    async (args, fault, usage) => {
      const run = runMain(args, brokerSettings(NO_DATABASE).env);

      expect(await run.ended()).toBe(2);
      expect(run.lines()).toEqual(['']);
      const [said = '', shown] = run.output().split('\n');
      expect(said.startsWith(fault.replace(/\.$/, ''))).toBe(true);
      expect(shown).toBe(`Usage: runtime-broker ${usage}`);
    },
  );
});

describe('a question for help', () => {
  it.each([[['--help']], [['migrate', '-h']]])(
    '%j is answered on standard output, without a configuration, with status 0',
    async (args) => {
      const run = runMain(args, {});

      expect(await run.ended()).toBe(0);
      expect(run.output().startsWith(`${USAGE}\n`)).toBe(true);
      expect(run.output()).toMatch(/^ {2}migrate\n +brings the schema/m);
      expect(run.output()).toMatch(/^ {2}cleanup \[--dry-run\] \[--orphans\]\n/m);
    },
  );
});

describeWith({ postgres: true }, 'migrate', () => {
  let database: FreshDatabase;

  beforeAll(async () => {
    database = await freshDatabase();
  });

  afterAll(() => database.drop());

  it('lays the schema, finds it laid when repeated, and both end with status 0', async () => {
    const { env } = brokerSettings(database.url);
    const first = runMain(['migrate'], env);
    expect(await first.ended()).toBe(0);
    expect(first.output()).toContain('Applied: 0001-ledger');

    const second = runMain(['migrate'], env);
    expect(await second.ended()).toBe(0);
    expect(second.output()).toBe('The schema is current.\n');
  });

  it('ends with status 1 and the cause when the database does not answer', async () => {
    const misspelt = { RUNTIME_BROKER_LOG_LEVLE: 'debug' };
    const run = runMain(['migrate'], brokerSettings(NO_DATABASE, misspelt).env);

    expect(await run.ended()).toBe(1);
    expect(run.output()).toMatch(/^The schema could not be migrated: .*ECONNREFUSED/m);
    expect(run.output()).toContain('RUNTIME_BROKER_LOG_LEVLE is not read by this version');
  });
});

describe('a port that is taken', () => {
  it.each(['RUNTIME_BROKER_LISTEN', 'RUNTIME_BROKER_OPERATOR_LISTEN'])(
    'of %s is named, and the process ends with status 1',
    async (variable) => {
      const port = await takenPort();
      const { env } = brokerSettings(NO_DATABASE, { [variable]: `127.0.0.1:${port}` });
      const run = runMain([], env);

      expect(await run.ended()).toBe(1);
      expect(run.output()).toContain('the broker cannot run');
      expect(run.output()).toContain(`address already in use 127.0.0.1:${port}`);
    },
  );
});

/** Held until the test file ends. */
async function takenPort(): Promise<number> {
  const holder = createServer();
  afterAll(() => holder.close());
  return new Promise((resolve) => {
    holder.listen(0, '127.0.0.1', () => {
      resolve((holder.address() as { readonly port: number }).port);
    });
  });
}
