import type { IncomingMessage } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';

import {
  type Answer,
  type HttpsServer,
  json,
  startHttpsServer,
} from '../../tests/support/https-server.ts';
import { UpstreamError } from '../domain/errors.ts';
import { Secret } from '../domain/secret.ts';
import { ClusterClient } from './cluster-client.ts';
import { type Revocation, revokeGrant } from './revoke-grant.ts';

// What a real API server does is tested in tests/cluster/revoke.test.ts; here are its refusals.

const uids = { account: 'uid-1', role: 'uid-2', roleBinding: 'uid-3' };

const ROLE_BINDING = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/grant';
const ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/grant';
const ACCOUNT = '/api/v1/namespaces/kyma-system/serviceaccounts/grant';

const KINDS: Readonly<Record<string, { kind: string; uid: string }>> = {
  [ROLE_BINDING]: { kind: 'ClusterRoleBinding', uid: 'uid-3' },
  [ROLE]: { kind: 'ClusterRole', uid: 'uid-2' },
  [ACCOUNT]: { kind: 'ServiceAccount', uid: 'uid-1' },
};

/** Undefined: as an API server would. */
type Script = (method: string, path: string) => Answer | undefined;

interface Cluster {
  readonly server: HttpsServer;
  /** Paths of the objects that are still there. */
  readonly left: Set<string>;
  readonly revoke: (token?: Secret) => Promise<Revocation>;
}

/** Three objects that go when they are deleted, unless the script has it otherwise. */
async function startCluster(script: Script = () => undefined): Promise<Cluster> {
  const left = new Set(Object.keys(KINDS));
  const server = await startHttpsServer();
  server.answerWith((request, response) => {
    const { method, path } = partsOf(request);
    (script(method, path) ?? usualAnswer(left, method, path))(request, response);
  });
  const client = new ClusterClient({
    server: server.url,
    certificateAuthorityData: Buffer.from(server.authority.certPem).toString('base64'),
    credential: { kind: 'token', token: new Secret('admin') },
  });
  onTestFinished(async () => {
    await client.close();
    await server.stop();
  });
  const target = { name: 'grant', namespace: 'kyma-system', uids };
  const tools = { isMarked: () => false, sleep: () => Promise.resolve() };
  return {
    server,
    left,
    revoke: (token) =>
      revokeGrant(client, { ...target, ...(token === undefined ? {} : { token }) }, tools),
  };
}

function partsOf({ method = '', url = '' }: IncomingMessage): { method: string; path: string } {
  return { method, path: url.split('?')[0] ?? '' };
}

function usualAnswer(left: Set<string>, method: string, path: string): Answer {
  const known = KINDS[path];
  if (known === undefined) return json(403, { kind: 'Status' });
  if (!left.has(path)) return json(404, { kind: 'Status' });
  if (method === 'DELETE') left.delete(path);
  return json(200, { kind: known.kind, metadata: { uid: known.uid } });
}

async function failureOf(revocation: Promise<Revocation>): Promise<UpstreamError> {
  const outcome: unknown = await revocation.catch((error: unknown) => error);
  if (outcome instanceof UpstreamError) return outcome;
  throw new Error('it did not fail as expected', { cause: outcome });
}

describe('revoking a grant', () => {
  it('empties the role binding before anything is deleted, and asks after that', async () => {
    const { server, revoke } = await startCluster();
    expect(await revoke(new Secret('issued'))).toEqual({ proof: 'refused', untouched: [] });
    const [first, ...then] = server.requests;
    expect(first).toBe(`PATCH ${ROLE_BINDING}`);
    expect(then.slice(0, 3).toSorted()).toEqual([
      `DELETE ${ACCOUNT}`,
      `DELETE ${ROLE_BINDING}`,
      `DELETE ${ROLE}`,
    ]);
    expect(then.slice(3).toSorted()).toEqual([
      'GET /api/v1/namespaces/kube-system/secrets?limit=1',
      `GET ${ACCOUNT}`,
      `GET ${ROLE_BINDING}`,
      `GET ${ROLE}`,
    ]);
  });

  it.each([
    [403, 'forbidden'],
    [422, 'invalid'],
    [500, 'server-error'],
  ])('goes on with the other objects where one is refused by %i', async (status, reason) => {
    const { left, revoke } = await startCluster((method, path) =>
      path === ROLE_BINDING && method !== 'GET' ? json(status, { kind: 'Status' }) : undefined,
    );
    expect(await failureOf(revoke(new Secret('issued')))).toMatchObject({ reason, status });
    expect([...left]).toEqual([ROLE_BINDING]);
  });

  it('takes an answer without a uid for no object, and so for no end of one', async () => {
    const { left, revoke } = await startCluster((_method, path) =>
      path !== ACCOUNT ? undefined : json(200, { kind: 'ServiceAccount', metadata: {} }),
    );
    expect((await failureOf(revoke())).reason).toBe('malformed-answer');
    expect([...left]).toEqual([ACCOUNT]);
  });

  it('tries again where somebody else writes at the same time', async () => {
    let conflicts = 2;
    const { left, revoke } = await startCluster((method, path) => {
      if (path !== ACCOUNT || method !== 'DELETE' || conflicts === 0) return undefined;
      conflicts -= 1;
      return json(409, { kind: 'Status' });
    });
    expect(await revoke()).toEqual({ proof: 'objects-gone', untouched: [] });
    expect([...left]).toEqual([]);
  });

  it('gives up at once where the cluster does not know us any more', async () => {
    const { server, revoke } = await startCluster(() => json(401, { kind: 'Status' }));
    expect((await failureOf(revoke())).reason).toBe('unauthorized');
    expect(server.requests).toHaveLength(1);
  });

  it('gives up for now where the cluster is busy', async () => {
    const { server, revoke } = await startCluster((method) =>
      method === 'DELETE' ? json(429, { kind: 'Status' }, { 'retry-after': '3' }) : undefined,
    );
    expect(await failureOf(revoke())).toMatchObject({ retryable: true, retryAfterSeconds: 3 });
    expect(server.requests).toHaveLength(4);
  });

  it('is not done while an object that was deleted can still be seen', async () => {
    const { revoke } = await startCluster((method, path) =>
      path === ROLE && method === 'DELETE' ? json(200, { kind: 'Status' }) : undefined,
    );
    const failure = await failureOf(revoke(new Secret('issued')));
    expect(failure.retryable).toBe(true);
    expect(failure.message).toBe(
      'cluster: delete clusterroles: still there after 4 rounds of deleting and clearing',
    );
  });
});
