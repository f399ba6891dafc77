// Commands beside the embedded default: the process that has the data folder does them, for whoever can read its lock
// file; where nobody has it, a command opens the folder itself (docs/configuration.md, "Commands").
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { newId, untilOperationEnds } from '../../integration/bindings/scene.ts';
import {
  type BrokerProcess,
  commandSecretIn,
  runMain,
  startEmbeddedProcess,
} from '../../support/broker-process.ts';
import { embeddedSettings } from '../../support/broker-settings.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { type FreshDataFolder, freshDataFolder } from '../../support/database.ts';
import { recordOutput } from '../../support/leak-record.ts';
import { describeWith } from '../../support/needs.ts';
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

/** Each test starts processes with a database inside, and a busy machine may need ten seconds for one. */
const TEST_LIMIT_MS = 180_000;

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

describeWith({}, 'a command beside the embedded default', () => {
  let folder: FreshDataFolder;
  let broker: BrokerProcess;
  let sandbox: TestSandbox;
  let proxy: ClusterProxy;
  const instance = newId('i');

  beforeAll(async () => {
    sandbox = await startTestSandbox();
    proxy = await openClusterProxy(sandbox.openCluster('beside'));
    folder = freshDataFolder();
    broker = await startEmbeddedProcess(folder.path);
    await broker.platform.provision({ instance }, proxy.adminKubeconfig);
    await untilOperationEnds(broker.platform, { instance }, 'succeeded');
  });
  afterAll(async () => {
    await broker.end('SIGTERM');
    await proxy.stop();
    await sandbox.stop();
    folder.remove();
  });

  async function run(...args: readonly string[]) {
    const command = runMain(args, embeddedSettings(folder.path));
    const status = await command.ended();
    return { status, lines: command.lines(), output: command.output() };
  }

  it('is done by the broker that has the folder', async () => {
    const binding = newId('b');
    expect((await broker.platform.bind({ instance, binding })).status).toBe(201);

    const cleaned = await run('cleanup', '--orphans');
    expect(cleaned).toMatchObject({
      status: 0,
      lines: ['{"expired":0,"revoked":0,"orphans":0,"failed":0,"dryRun":false}'],
    });
    const rotated = await run('rotate-keys');
    expect(rotated).toMatchObject({
      status: 0,
      lines: ['{"resealed":{"tokens":0,"accesses":0,"markKeys":0},"current":3,"unopenable":0}'],
    });
    const migrated = await run('migrate');
    expect(migrated.status).toBe(0);
    expect(migrated.lines[0]).toMatch(/^The schema is current: the broker that has/);
    const unknown = await run('confirm-restore', 'nobody', '--reason', 'x');
    expect(unknown.status).toBe(1);
    expect(unknown.output).toBe('There is no service instance with this id.\n');
    expect((await run('confirm-restore', instance, '--reason', 'x')).lines[0]).toMatch(
      /^Nothing to confirm/,
    );
    expect((await broker.platform.getBinding({ instance, binding })).status).toBe(200);
    expect(broker.output()).toContain('"command":"rotate-keys"');
  });

  it('is let in by the secret of this start alone', async () => {
    const secret = await commandSecretIn(folder.path);
    expect(statSync(join(folder.path, 'lock.json')).mode & 0o777).toBe(0o600);
    const password = readFileSync(join(folder.path, 'operator-password'), 'utf8').trim();
    const give = async (authorization: string | undefined, body: unknown) => {
      const answer = await fetch(`${broker.operatorUrl}/commands`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(authorization === undefined ? {} : { authorization }),
        },
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      recordOutput('answer to a command', text);
      return [answer.status, text] as const;
    };
    const command = { name: 'migrate', args: [], actor: 'a test' };
    const operator = `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`;
    const close = `${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`;

    for (const wrong of [undefined, operator, 'Bearer ', 'Bearer x', `Bearer ${close}`]) {
      expect((await give(wrong, command))[0]).toBe(401);
    }
    expect((await give(`Bearer ${secret}`, command))[0]).toBe(200);
    expect((await give(`Bearer ${secret}`, { ...command, sudo: true }))[0]).toBe(400);
    const [status, text] = await give(`Bearer ${secret}`, { ...command, name: 'serve' });
    expect([status, JSON.parse(text)]).toEqual([
      200,
      {
        exitStatus: 2,
        output: [],
        complaints: ['The process that has the data folder knows no command "serve".'],
      },
    ]);
    // It opens nothing else.
    const headers = { authorization: `Bearer ${secret}` };
    expect((await fetch(`${broker.operatorUrl}/bindings`, { headers })).status).toBe(401);
  });

  it('opens the folder itself where nobody has it, and finds what a crash has left', async () => {
    const before = await commandSecretIn(folder.path);
    const binding = newId('killed');
    const held = proxy.misbehave({
      on: /^POST .*\/clusterrolebindings/,
      act: { kind: 'hold-answer' },
    });
    void broker.platform.bind({ instance, binding }).catch(() => undefined);
    await until({ what: 'the issue is held', limitMs: 30_000, isSo: () => held.seen() > 0 });
    await broker.end('SIGKILL');
    held.end();

    const looked = await run('cleanup', '--dry-run');
    expect([looked.status, looked.lines.at(-1)]).toEqual([
      0,
      '{"expired":1,"revoked":1,"orphans":0,"failed":0,"dryRun":true}',
    ]);
    const cleaned = await run('cleanup');
    expect([cleaned.status, cleaned.lines.at(-1)]).toEqual([
      0,
      '{"expired":1,"revoked":1,"orphans":0,"failed":0,"dryRun":false}',
    ]);
    expect(existsSync(join(folder.path, 'lock.json'))).toBe(false);

    broker = await startEmbeddedProcess(folder.path);
    expect(await commandSecretIn(folder.path)).not.toBe(before);
    expect((await broker.platform.getBinding({ instance, binding })).status).toBe(404);
    expect((await broker.platform.bind({ instance, binding })).status).toBe(201);
  });
});
