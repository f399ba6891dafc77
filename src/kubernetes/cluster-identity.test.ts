import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';

import { type HttpsServer, json, startHttpsServer } from '../../tests/support/https-server.ts';
import {
  createAuthority,
  issueClientCertificate,
} from '../../tests/support/real-parts/certificates.ts';
import { Secret } from '../domain/secret.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { type ClusterCall, ClusterClient } from './cluster-client.ts';
import { ClusterIdentity } from './cluster-identity.ts';

const IDENTITY = 'GET /api/v1/namespaces/kube-system';

const call: ClusterCall = {
  method: 'GET',
  path: '/api/v1/nodes',
  action: 'list nodes',
  expect: ['NodeList'],
};

interface Cluster {
  readonly server: HttpsServer;
  /** Calls that are held, oldest first; each function answers one. */
  readonly held: (() => void)[];
  hold: boolean;
}

async function startCluster(uid: string): Promise<Cluster> {
  const server = await startHttpsServer();
  const cluster: Cluster = { server, held: [], hold: false };
  server.answerWith((request, response) => {
    const isIdentity = `${request.method} ${request.url}` === IDENTITY;
    const body = isIdentity ? { kind: 'Namespace', metadata: { uid } } : { kind: 'NodeList' };
    const answer = (): void => json(200, body)(request, response);
    if (cluster.hold && !isIdentity) cluster.held.push(answer);
    else answer();
  });
  onTestFinished(() => server.stop());
  return cluster;
}

interface Address {
  readonly url: string;
  /** Where connections lead to that are made from now on; those that are open stay. */
  lead(to: Cluster): void;
}

async function openAddress(first: Cluster): Promise<Address> {
  let port = portOf(first);
  const sockets = new Set<Socket>();
  const relay = createServer((socket) => {
    const onward = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from);
      from
        .on('error', () => to.destroy())
        .on('close', () => to.destroy())
        .pipe(to);
    }
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    relay.close();
  });
  return {
    url: `https://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    lead(to) {
      port = portOf(to);
    },
  };
}

const portOf = ({ server }: Cluster): number => Number(new URL(server.url).port);

function openClient(
  address: Address,
  clusters: readonly Cluster[],
  credential: ClusterAccess['credential'] = { kind: 'token', token: new Secret('admin') },
): { client: ClusterClient; identity: ClusterIdentity } {
  const authorities = clusters.map(({ server }) => server.authority.certPem).join('\n');
  const client = new ClusterClient({
    server: address.url,
    certificateAuthorityData: Buffer.from(authorities).toString('base64'),
    credential,
  });
  onTestFinished(() => client.close());
  return { client, identity: new ClusterIdentity(client) };
}

interface Switchable {
  readonly attached: Cluster;
  readonly other: Cluster;
  readonly address: Address;
  readonly client: ClusterClient;
  readonly identity: ClusterIdentity;
}

async function startSwitchable(): Promise<Switchable> {
  const [attached, other] = [await startCluster('uid-1'), await startCluster('uid-2')];
  const address = await openAddress(attached);
  return { attached, other, address, ...openClient(address, [attached, other]) };
}

/**
 * Switches the address while calls are held on the connections of before, one more at a time, until one had to open a
 * new connection. Returns what lets all of them end.
 */
async function switchUnderCalls(scene: Switchable): Promise<() => Promise<void>> {
  const { attached, other, address, client } = scene;
  const calls: Promise<unknown>[] = [];
  const heldCount = (): number => attached.held.length + other.held.length;
  attached.hold = true;
  other.hold = true;
  while (other.held.length === 0) {
    calls.push(client.request(call));
    await expect.poll(heldCount).toBe(calls.length);
    address.lead(other);
  }
  return async (): Promise<void> => {
    for (const answer of [...attached.held, ...other.held]) answer();
    await Promise.all(calls);
  };
}

const timesAsked = ({ server }: Cluster): number =>
  server.requests.filter((line) => line === IDENTITY).length;

describe('the identity of a cluster', () => {
  it('is asked once for all calls over connections that it covers', async () => {
    const { attached, client, identity } = await startSwitchable();
    await Promise.all([client.request(call), client.request(call), client.request(call)]);
    expect(await identity.uid()).toBe('uid-1');
    const connections = attached.server.connectionCount();
    for (let calls = 0; calls < 3; calls += 1) {
      await client.request(call);
      expect(await identity.uid()).toBe('uid-1');
    }
    expect(timesAsked(attached)).toBe(1);
    expect(attached.server.connectionCount()).toBe(connections);
  });

  it('is asked once by many at the same time', async () => {
    const { attached, client, identity } = await startSwitchable();
    await client.request(call);
    const uids = await Promise.all(Array.from({ length: 20 }, () => identity.uid()));
    expect(new Set(uids)).toEqual(new Set(['uid-1']));
    expect(timesAsked(attached)).toBe(1);
  });

  it('is that of the newest connection, while older ones still lead to the attached cluster', async () => {
    const scene = await startSwitchable();
    await scene.client.request(call);
    expect(await scene.identity.uid()).toBe('uid-1');
    const release = await switchUnderCalls(scene);
    await release();
    // Nothing was lost: the next call would be served by a connection of before.
    expect(scene.client.isConnected).toBe(true);
    expect(await scene.identity.uid()).toBe('uid-2');
  });

  it('does not wait for a call that hangs on the newest connection', async () => {
    const scene = await startSwitchable();
    await scene.client.request(call);
    expect(await scene.identity.uid()).toBe('uid-1');
    const release = await switchUnderCalls(scene);
    expect(await scene.identity.uid()).toBe('uid-2');
    await release();
  });

  it('covers connections on which another token is asked with, beside a client certificate', async () => {
    const [attached, other] = [await startCluster('uid-1'), await startCluster('uid-2')];
    const address = await openAddress(attached);
    const authority = await createAuthority('clients');
    const { certPem, keyPem } = await issueClientCertificate(authority, { commonName: 'admin' });
    const { client, identity } = openClient(address, [attached, other], {
      kind: 'certificate',
      certificateData: Buffer.from(certPem).toString('base64'),
      keyData: new Secret(Buffer.from(keyPem).toString('base64')),
    });
    expect(await identity.uid()).toBe('uid-1');
    expect(await identity.uid()).toBe('uid-1');
    address.lead(other);
    await client.statusWith(new Secret('issued'), { path: '/', action: 'use a token' });
    expect(await identity.uid()).toBe('uid-2');
  });

  it('is asked again once no connection is left', async () => {
    const { attached, other, address, client, identity } = await startSwitchable();
    await client.request(call);
    expect(await identity.uid()).toBe('uid-1');
    address.lead(other);
    attached.server.closeIdleConnections();
    await expect.poll(() => client.isConnected).toBe(false);
    expect(await identity.uid()).toBe('uid-2');
  });

  it('is asked again after an answer that was none', async () => {
    const { attached, client, identity } = await startSwitchable();
    await client.request(call);
    attached.server.answerWith(json(500, { kind: 'Status' }));
    await expect(identity.uid()).rejects.toMatchObject({ reason: 'server-error' });
    attached.server.answerWith(json(200, { kind: 'Namespace', metadata: { uid: 'uid-1' } }));
    expect(await identity.uid()).toBe('uid-1');
  });
});
