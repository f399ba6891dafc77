import { describe, expect, it, onTestFinished } from 'vitest';

import { json, startHttpsServer } from '../../tests/support/https-server.ts';
import { Secret } from '../domain/secret.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { ClusterCall, ClusterClient } from './cluster-client.ts';
import { OpenClusters, type OpenClustersOptions } from './open-clusters.ts';

function open(options: Partial<OpenClustersOptions> = {}): OpenClusters {
  const clusters = new OpenClusters({ retireAfterMs: 60_000, ...options });
  onTestFinished(() => clusters.close());
  return clusters;
}

const accessWith = (token: string): ClusterAccess => ({
  server: 'https://api.example.com',
  credential: { kind: 'token', token: new Secret(token) },
});

const get: ClusterCall = {
  method: 'GET',
  path: '/',
  action: 'get namespaces',
  expect: ['Namespace'],
};

/** Resolves when calls through the client are refused for its being closed. */
function closed(client: ClusterClient): Promise<void> {
  const outcome = (): Promise<unknown> => client.request(get).catch((error: unknown) => error);
  return expect.poll(outcome).toMatchObject({ reason: 'cancelled' });
}

describe('the open clusters', () => {
  it('give the same client for the same access', () => {
    const clusters = open();
    const client = clusters.clientFor('a', accessWith('one'));
    expect(clusters.clientFor('a', accessWith('one'))).toBe(client);
    expect(clusters.clientFor('b', accessWith('one'))).not.toBe(client);
  });

  it('give another client once the access has changed, and close the old one', async () => {
    const clusters = open({ retireAfterMs: 0 });
    const client = clusters.clientFor('a', accessWith('one'));
    expect(clusters.clientFor('a', accessWith('two'))).not.toBe(client);
    await closed(client);
  });

  it('give another client once the old one was dropped', async () => {
    const clusters = open({ retireAfterMs: 0 });
    const client = clusters.clientFor('a', accessWith('one'));
    clusters.drop('a');
    clusters.drop('unknown');
    expect(clusters.clientFor('a', accessWith('one'))).not.toBe(client);
    await closed(client);
  });

  it('close the client that was used least recently, and no other', async () => {
    const clusters = open({ maxOpen: 2, retireAfterMs: 0 });
    const a = clusters.clientFor('a', accessWith('one'));
    const b = clusters.clientFor('b', accessWith('one'));
    clusters.clientFor('a', accessWith('one'));
    clusters.clientFor('c', accessWith('one'));
    await closed(b);
    expect(clusters.clientFor('a', accessWith('one'))).toBe(a);
  });

  it('let a client that was replaced serve those who hold it', async () => {
    const server = await startHttpsServer();
    onTestFinished(() => server.stop());
    server.answerWith(json(200, { kind: 'Namespace' }));
    const access: ClusterAccess = {
      ...accessWith('one'),
      server: server.url,
      certificateAuthorityData: Buffer.from(server.authority.certPem).toString('base64'),
    };
    const clusters = open();
    const client = clusters.clientFor('a', access);
    clusters.drop('a');
    expect(await client.request(get)).toEqual({ kind: 'Namespace' });
    await clusters.close();
    await closed(client);
  });
});
