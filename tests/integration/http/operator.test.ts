// The operators' listener, as whoever runs the broker meets it: what needs credentials, whose, and in which form it
// refuses (docs/api.md, "For operators"). What the probes say is in tests/faults/process/probes.test.ts.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runMain } from '../../support/broker-process.ts';
import { openBroker, startBroker, type TestBroker } from '../../support/broker.ts';
import { brokerSettings } from '../../support/broker-settings.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { recordOutput } from '../../support/leak-record.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';

/** A process takes a second to start; a busy machine twenty times that. */
const START_LIMIT_MS = 60_000;

interface Asking {
  readonly authorization?: string;
  readonly method?: string;
}

async function ask(url: string, { authorization, method = 'GET' }: Asking = {}) {
  const headers = authorization === undefined ? {} : { authorization };
  const answer = await fetch(url, { method, headers });
  const text = await answer.text();
  recordOutput(`answer ${answer.status} to an operator`, text);
  return {
    status: answer.status,
    headers: answer.headers,
    body: JSON.parse(text) as Readonly<Record<string, unknown>>,
  };
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

describeWith({ postgres: true }, 'the operator listener', () => {
  let database: FreshDatabase;
  let broker: TestBroker;
  const platform = brokerSettings('').password;
  const operator = brokerSettings('').operator.password;

  beforeAll(async () => {
    database = await freshDatabase();
    broker = await startBroker({
      databaseUrl: database.url,
      env: {
        RUNTIME_BROKER_PASSWORD: platform,
        RUNTIME_BROKER_OPERATOR_USERNAME: 'duty',
        RUNTIME_BROKER_OPERATOR_PASSWORD: operator,
      },
    });
  });
  afterAll(async () => {
    await broker.stop();
    await database.drop();
  });

  it('tells operators what runs, and nothing more', async () => {
    const { version } = JSON.parse(
      readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
    ) as { version: string };

    const answer = await ask(`${broker.operatorUrl}/version`, {
      authorization: basic('duty', operator),
    });

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ version, node: process.versions.node });
  });

  it.each([
    ['nobody', undefined],
    ['the platform', basic('broker', platform)],
    ["the platform's password under the operators' name", basic('duty', platform)],
    ["the operators' password under another name", basic('operator', operator)],
    ['an empty password', basic('duty', '')],
    ['a bearer of something', 'Bearer x'],
  ])('does not know %s', async (_, authorization) => {
    const answer = await ask(
      `${broker.operatorUrl}/version`,
      authorization === undefined ? {} : { authorization },
    );

    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm=/);
    expect(answer.body).toEqual({ description: 'The request needs valid credentials.' });
  });

  it('gives operators nothing on the public listener', async () => {
    const authorization = basic('duty', operator);

    expect((await ask(`${broker.publicUrl}/v2/catalog`, { authorization })).status).toBe(401);
    expect((await ask(`${broker.publicUrl}/version`, { authorization })).status).toBe(404);
  });

  it('refuses other methods and paths in the one form of errors', async () => {
    const authorization = basic('duty', operator);
    const post = await ask(`${broker.operatorUrl}/version`, { authorization, method: 'POST' });
    const unknown = await ask(`${broker.operatorUrl}/versions`, { authorization });
    const garbled = await ask(`${broker.operatorUrl}/%zz`, { authorization });

    expect([post.status, post.headers.get('allow'), post.body]).toEqual([
      405,
      'GET',
      { description: 'The route does not take POST.' },
    ]);
    expect([unknown.status, unknown.body]).toEqual([
      404,
      { description: 'There is no such route.' },
    ]);
    expect([garbled.status, Object.keys(garbled.body)]).toEqual([400, ['description']]);
  });
});

describe('while the database is away', () => {
  it('the operator listener answers 503 to all but the probes, whoever asks', async () => {
    // Nothing listens there.
    const broker = await openBroker({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none' });

    const version = await ask(`${broker.operatorUrl}/version`);

    expect([version.status, version.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await ask(`${broker.operatorUrl}/healthz`)).status).toBe(200);
    await broker.stop();
  });
});

describeWith({ postgres: true }, 'without a password of operators', () => {
  it('a start warns once, and the routes that need it are closed to all', async () => {
    const database = await freshDatabase();
    const { env } = brokerSettings(database.url, { RUNTIME_BROKER_OPERATOR_PASSWORD: '' });
    const run = runMain([], env);
    await until({
      what: 'the broker serves',
      limitMs: START_LIMIT_MS,
      isSo: () => run.output().includes('"msg":"ready"'),
      isHopeless: () => (run.child.exitCode === null ? null : run.output()),
    });
    const url = /"surface":"operator","url":"([^"]+)"/.exec(run.output())?.[1] ?? '';

    for (const authorization of [undefined, basic('operator', ''), basic('', ''), basic('', 'x')]) {
      const answer = await ask(
        `${url}/version`,
        authorization === undefined ? {} : { authorization },
      );
      expect(answer.status).toBe(401);
    }
    expect((await ask(`${url}/readyz`)).status).toBe(200);
    run.child.kill('SIGTERM');
    expect(await run.ended()).toBe(0);
    expect(run.output().match(/RUNTIME_BROKER_OPERATOR_PASSWORD/g)).toHaveLength(1);
    await database.drop();
  });
});
