// The data folder of the embedded default, as whoever starts the broker meets it: what the first start makes, what a
// second one finds, who is kept out, and what is said when something is wrong.
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type BrokerProcess, runMain, startEmbeddedProcess } from '../../support/broker-process.ts';
import { brokerSettings, embeddedSettings } from '../../support/broker-settings.ts';
import { type FreshDataFolder, freshDataFolder, freshDatabase } from '../../support/database.ts';
import { describeWith } from '../../support/needs.ts';

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

/** Each test starts processes with a database inside, and a busy machine may need ten seconds for one. */
const TEST_LIMIT_MS = 120_000;

describe('the data folder', { timeout: TEST_LIMIT_MS }, () => {
  let template: FreshDataFolder;
  const folders: FreshDataFolder[] = [];
  const brokers: BrokerProcess[] = [];

  beforeAll(async () => {
    template = freshDataFolder();
    await runMain(['migrate'], embeddedSettings(template.path)).ended();
  });
  afterAll(() => template.remove());
  afterEach(async () => {
    await Promise.all(brokers.splice(0).map((broker) => broker.end('SIGTERM')));
    for (const folder of folders.splice(0)) folder.remove();
  });

  function freshPath(): string {
    const folder = freshDataFolder();
    folders.push(folder);
    // Not there yet: the broker makes it.
    return join(folder.path, 'below', 'data');
  }

  /** As one start has left it. */
  function usedPath(): string {
    const path = freshPath();
    cpSync(template.path, path, { recursive: true });
    return path;
  }

  async function started(path: string): Promise<BrokerProcess> {
    const broker = await startEmbeddedProcess(path);
    brokers.push(broker);
    return broker;
  }

  async function refusal(path: string, args: readonly string[] = []): Promise<string> {
    const run = runMain(args, embeddedSettings(path));
    expect(await run.ended()).toBe(1);
    return run.output();
  }

  it('is made at the first start, for its owner alone, and found by the second', async () => {
    const path = freshPath();
    const first = await started(path);
    expect((await first.platform.catalog()).status).toBe(200);

    expect(modeOf(path)).toBe('700');
    const secrets = ['platform-password', 'operator-password', 'sealing-keys'].map((name) =>
      join(path, name),
    );
    expect(secrets.map(modeOf)).toEqual(['600', '600', '600']);
    const contents = secrets.map((secret) => readFileSync(secret, 'utf8'));
    expect(first.output()).toContain('not for production');
    expect(first.output()).toContain(join(path, 'platform-password'));
    expect(first.output()).toContain(join(path, 'operator-password'));
    for (const content of contents) expect(first.output()).not.toContain(content.trim());
    expect(await first.end('SIGTERM')).toBe(0);
    expect(existsSync(join(path, 'lock.json'))).toBe(false);

    const second = await started(path);
    expect((await second.platform.catalog()).status).toBe(200);
    expect(secrets.map((secret) => readFileSync(secret, 'utf8'))).toEqual(contents);
    expect(installationIn(second.output())).toBe(installationIn(first.output()));
  });

  it('lets no second process in, which is told who has it', async () => {
    const path = usedPath();
    const holder = await started(path);
    const { pid } = JSON.parse(readFileSync(join(path, 'lock.json'), 'utf8')) as { pid: number };

    const sentence = await refusal(path);

    expect(sentence).toMatch(/^The data folder [^\n]+\n$/);
    expect(sentence).toContain(`${path} is in use by process ${pid} on `);
    const { publicUrl, operatorUrl } = holder;
    expect(sentence).toContain(`serves platforms at ${publicUrl} and operators at ${operatorUrl}.`);
    const migrated = runMain(['migrate'], embeddedSettings(path));
    expect(await migrated.ended()).toBe(0);
    expect(migrated.output()).toMatch(/^The schema is current/);
    expect((await holder.platform.catalog()).status).toBe(200);
  });

  it('has nothing to do with another one beside it', async () => {
    const [one, other] = [freshPath(), freshPath()];
    const [first, second] = await Promise.all([started(one), started(other)]);

    expect(installationIn(first.output())).not.toBe(installationIn(second.output()));
    const passwords = [one, other].map((path) =>
      readFileSync(join(path, 'platform-password'), 'utf8'),
    );
    expect(passwords[0]).not.toBe(passwords[1]);
  });

  it('is closed to others where it was open, but a secret that others could read is refused', async () => {
    const path = usedPath();
    chmodSync(path, 0o755);
    chmodSync(join(path, 'platform-password'), 0o644);

    const sentence = await refusal(path);

    expect(sentence).toContain(join(path, 'platform-password'));
    expect(sentence).toContain('chmod 600');
    expect(modeOf(path)).toBe('700');
    expect(existsSync(join(path, 'lock.json'))).toBe(false);
  });

  it('of a version that knew no password of operators gets one, and keeps what it has', async () => {
    const path = usedPath();
    rmSync(join(path, 'operator-password'));
    const before = readFileSync(join(path, 'platform-password'), 'utf8');

    expect(await runMain(['migrate'], embeddedSettings(path)).ended()).toBe(0);

    const made = readFileSync(join(path, 'operator-password'), 'utf8').trim();
    expect(made).toMatch(/^[\w-]{32}$/);
    expect(modeOf(join(path, 'operator-password'))).toBe('600');
    expect(readFileSync(join(path, 'platform-password'), 'utf8')).toBe(before);
    expect(made).not.toBe(before.trim());
  });

  it('gets no new sealing keys where something was sealed with those that are missing', async () => {
    const path = usedPath();
    rmSync(join(path, 'sealing-keys'));

    expect(await refusal(path)).toContain('RUNTIME_BROKER_SEALING_KEYS');
    expect(existsSync(join(path, 'sealing-keys'))).toBe(false);
  });

  it('is made anew from a database that a crash left half made', async () => {
    const path = usedPath();
    writeFileSync(join(path, 'database.unfinished'), '');
    rmSync(join(path, 'database', 'global'), { recursive: true });

    const run = runMain(['migrate'], embeddedSettings(path));

    expect(await run.ended()).toBe(0);
    expect(run.output()).toContain('Applied: 0001-ledger');
    expect(readdirSync(path).toSorted()).toEqual([
      'database',
      'operator-password',
      'platform-password',
      'sealing-keys',
    ]);
  });

  it('whose database is damaged ends the start with status 1', async () => {
    const path = usedPath();
    rmSync(join(path, 'database', 'global'), { recursive: true });

    expect(await refusal(path)).toContain('the broker cannot run');
  });

  it('is not made by a start that has other faults, nor by check-config', async () => {
    const path = freshPath();
    const faulty = runMain([], { ...embeddedSettings(path), RUNTIME_BROKER_LISTEN: 'everywhere' });
    expect(await faulty.ended()).toBe(2);
    const check = runMain(['check-config'], embeddedSettings(path));
    expect(await check.ended()).toBe(0);

    expect(check.output()).toContain(`dataFolder: ${path}\n`);
    expect(check.output()).toContain('password: "[secret]"');
    expect(existsSync(path)).toBe(false);
  });

  it('that cannot be one is a fault of the configuration', async () => {
    const folder = freshDataFolder();
    folders.push(folder);
    const file = join(folder.path, 'file');
    writeFileSync(file, '');

    const run = runMain([], embeddedSettings(join(file, 'data')));

    expect(await run.ended()).toBe(2);
    expect(run.output()).toContain('a file that cannot be read (ENOTDIR)');
  });
});

describe('check-config', () => {
  it('tells all faults and ends with status 2', async () => {
    const run = runMain(['check-config'], { DATABASE_URL: 'postgres://broker:sesame@db/broker' });

    expect(await run.ended()).toBe(2);
    expect(run.output()).toContain('The configuration has 2 faults:\n');
    expect(run.output()).not.toContain('sesame');
  });
});

describeWith({ postgres: true }, 'with DATABASE_URL', () => {
  it('nothing is written to the data folder', async () => {
    const database = await freshDatabase();
    const folder = freshDataFolder();
    const path = join(folder.path, 'data');
    const { env } = brokerSettings(database.url, { RUNTIME_BROKER_DATA_DIR: path });

    expect(await runMain(['migrate'], env).ended()).toBe(0);

    expect(existsSync(path)).toBe(false);
    folder.remove();
    await database.drop();
  });
});

function installationIn(output: string): string | undefined {
  return /"installation":"([0-9a-f-]{36})"/.exec(output)?.[1];
}
