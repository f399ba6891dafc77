import type { LookupAddress } from 'node:dns';

import { describe, expect, it, onTestFinished } from 'vitest';

import { type HttpsServer, json, startHttpsServer } from '../../tests/support/https-server.ts';
import { Secret } from '../domain/secret.ts';
import { AddressGuard, type AddressGuardParts, AddressRefusedError } from './address-guard.ts';
import type { AddressLaw } from './address-rules.ts';
import { ClusterClient } from './cluster-client.ts';

const LOOPBACK_ALLOWED: AddressLaw = { allow: [], deny: [], allowsLoopback: true };
const NO_RULES: AddressLaw = { allow: [], deny: [], allowsLoopback: false };

const NAMESPACE = { kind: 'Namespace', metadata: { name: 'kube-system' } };

const GET = {
  method: 'GET',
  path: '/api/v1/namespaces/kube-system',
  action: 'read namespaces',
  expect: ['Namespace'],
} as const;

function guardWith(parts: Partial<AddressGuardParts>): AddressGuard {
  return new AddressGuard({
    law: NO_RULES,
    ownEndpoints: () => [],
    localAddresses: () => [],
    resolve: () => Promise.reject(new Error('nothing is to be resolved')),
    ...parts,
  });
}

function addresses(...all: readonly string[]): LookupAddress[] {
  return all.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

async function startServer(): Promise<HttpsServer> {
  const server = await startHttpsServer({ dns: ['cluster.test'] });
  onTestFinished(() => server.stop());
  server.answerWith(json(200, NAMESPACE));
  return server;
}

function clientOf(server: HttpsServer, host: string, guard: AddressGuard): ClusterClient {
  const client = new ClusterClient(
    {
      server: server.url.replace('127.0.0.1', host),
      certificateAuthorityData: Buffer.from(server.authority.certPem).toString('base64'),
      tlsServerName: 'cluster.test',
      credential: { kind: 'token', token: new Secret('a-token') },
    },
    { guard },
  );
  onTestFinished(() => client.close());
  return client;
}

async function refusalOf(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.then(
    () => new Error('it was not refused'),
    (thrown: unknown) => thrown,
  );
  return error instanceof AddressRefusedError ? error.kind : String(error);
}

describe('a client of a guarded cluster', () => {
  it('connects to what its name resolved to, once that was allowed', async () => {
    const server = await startServer();
    const guard = guardWith({
      law: LOOPBACK_ALLOWED,
      resolve: () => Promise.resolve(addresses('127.0.0.1')),
    });

    const found = await clientOf(server, 'cluster.test', guard).request(GET);

    expect(found).toEqual(NAMESPACE);
  });

  it('never reaches a refused address, by name or as a literal', async () => {
    const server = await startServer();
    const guard = guardWith({ resolve: () => Promise.resolve(addresses('127.0.0.1')) });

    for (const host of ['cluster.test', '127.0.0.1', '[::ffff:127.0.0.1]', '2130706433']) {
      expect(await refusalOf(clientOf(server, host, guard).request(GET))).toBe('loopback');
    }
    expect(server.connectionCount()).toBe(0);
  });

  it('asks with another token under the same guard', async () => {
    const server = await startServer();
    const client = clientOf(server, '127.0.0.1', guardWith({}));

    const asked = client.statusWith(new Secret('other'), { path: GET.path, action: GET.action });

    expect(await refusalOf(asked)).toBe('loopback');
    expect(server.connectionCount()).toBe(0);
  });

  it('refuses a name of which one address of many is refused', async () => {
    const server = await startServer();
    const guard = guardWith({
      law: LOOPBACK_ALLOWED,
      resolve: () => Promise.resolve(addresses('127.0.0.1', '169.254.169.254')),
    });

    expect(await refusalOf(clientOf(server, 'cluster.test', guard).request(GET))).toBe('metadata');
    expect(server.connectionCount()).toBe(0);
  });

  it('refuses a name that has come to mean another address since', async () => {
    const server = await startServer();
    const answers = [addresses('127.0.0.1'), addresses('169.254.169.254')];
    const guard = guardWith({
      law: LOOPBACK_ALLOWED,
      resolve: () => Promise.resolve(answers.shift() ?? []),
    });
    const client = clientOf(server, 'cluster.test', guard);
    await client.request(GET);

    server.closeIdleConnections();

    expect(await refusalOf(client.request(GET))).toBe('metadata');
    expect(answers).toEqual([]);
  });

  it('tells a name that leads nowhere as unreachable', async () => {
    const server = await startServer();
    const guard = guardWith({
      resolve: () =>
        Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })),
    });

    await expect(clientOf(server, 'cluster.test', guard).request(GET)).rejects.toMatchObject({
      reason: 'unreachable',
      retryable: true,
    });
  });
});

describe('the broker itself', () => {
  const asked = (server: string, parts: Partial<AddressGuardParts>) =>
    guardWith({ law: LOOPBACK_ALLOWED, ...parts }).refusalOf(server);

  it('is refused at its listener and its database, at their ports alone', async () => {
    const parts = {
      ownEndpoints: () => [
        { host: '127.0.0.1', port: 8080 },
        { host: 'db.test', port: 5432 },
      ],
      resolve: () => Promise.resolve(addresses('10.0.0.5', 'fd00::5')),
    };

    expect(await asked('https://127.0.0.1:8080', parts)).toBe('own');
    expect(await asked('https://10.0.0.5:5432/path', parts)).toBe('own');
    expect(await asked('https://[fd00::5]:5432', parts)).toBe('own');
    expect(await asked('https://127.0.0.1:8443', parts)).toBeUndefined();
    expect(await asked('https://10.0.0.5', parts)).toBeUndefined();
  });

  it.each(['0.0.0.0', '::'])(
    'that listens on %s is refused at each address of its machine',
    async (host) => {
      const parts = {
        ownEndpoints: () => [{ host, port: 8080 }],
        localAddresses: () => ['127.0.0.1', '10.0.0.7'],
      };

      expect(await asked('https://10.0.0.7:8080', parts)).toBe('own');
      expect(await asked('https://10.0.0.7:8443', parts)).toBeUndefined();
    },
  );

  it('does not mind a database whose name leads nowhere', async () => {
    const parts = {
      ownEndpoints: () => [{ host: 'db.test', port: 5432 }],
      resolve: () => Promise.reject(new Error('ENOTFOUND')),
    };

    expect(await asked('https://10.0.0.5:5432', parts)).toBeUndefined();
  });
});
