import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { readConfig } from '../config/read-config.ts';
import { Secret } from '../domain/secret.ts';
import { compose } from './compose.ts';

// Nothing listens there, and nobody asks.
const ENV = {
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  RUNTIME_BROKER_PASSWORD: 'platform-password',
  RUNTIME_BROKER_SEALING_KEYS: `first:${Buffer.alloc(32, 7).toString('base64')}`,
  RUNTIME_BROKER_CONFIG: 'config.yaml',
};

function composeWith(configFile: string): ReturnType<typeof compose> {
  const none = () => undefined;
  const judges = { databaseUrl: none, parameterSchema: none, kubeconfig: none };
  const read = readConfig(ENV, () => configFile, judges);
  if (!read.ok) throw new Error(JSON.stringify(read.faults));
  return compose(read.config);
}

describe('a client of a cluster that was replaced', () => {
  // An issue may take the create limit and 5 s for its undo, a step of an operation 50 s.
  it.each([
    ['createTimeoutSeconds: 50', 55_000],
    ['createTimeoutSeconds: 15', 50_000],
  ])('serves those who hold it for as long as they may take, with %s', async (file, usedMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { openClusters } = composeWith(file);
    const client = openClusters.clientFor('an instance', {
      // Another port than the database's, whose address may not be called.
      server: 'https://127.0.0.1:2',
      credential: { kind: 'token', token: new Secret('admin') },
    });
    const outcome = (): Promise<unknown> =>
      client
        .request({ method: 'GET', path: '/', action: 'get', expect: [] })
        .catch((error: unknown) => error);
    openClusters.drop('an instance');

    vi.advanceTimersByTime(usedMs - 1);
    expect(await outcome()).toMatchObject({ reason: 'unreachable' });
    vi.advanceTimersByTime(1);
    expect(await outcome()).toMatchObject({ reason: 'cancelled' });
  });
});
