// The tokens of a sandbox cluster's accounts, by a clock that the tests move: when they serve, and until when.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { recordSecret } from '../../support/leak-record.ts';
import { type RawClient, rawClient } from '../../support/raw-requests.ts';
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts';

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const SECRETS = '/api/v1/namespaces/kube-system/secrets?limit=1';
const UUID: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/);
const MERGE = 'application/merge-patch+json';

describe('a token of a sandbox cluster', () => {
  let nowMs = Date.parse('2026-05-04T10:00:00.500Z');
  let sandbox: TestSandbox;
  let client: RawClient;
  let account = 0;

  const wait = (seconds: number): void => {
    nowMs += seconds * 1_000;
  };

  beforeAll(async () => {
    sandbox = await startTestSandbox({ clock: () => new Date(nowMs), maxTokenSeconds: 7_200 });
    client = rawClient(sandbox.openCluster('a').adminKubeconfig);
  });
  afterAll(() => sandbox.stop());
  beforeEach(async () => {
    account += 1;
    await made(ACCOUNTS, { metadata: { name: name() } });
    await made(BINDINGS, {
      metadata: { name: name() },
      roleRef: { kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: name() }],
    });
  });

  const name = (): string => `account-${account}`;

  async function made(
    path: string,
    body: object,
  ): Promise<{ status: Record<string, unknown>; metadata: { uid: string } }> {
    const { status, text } = await client({ method: 'POST', path, body });
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
    return JSON.parse(text) as { status: Record<string, unknown>; metadata: { uid: string } };
  }

  async function tokenFor(spec: object = {}): Promise<string> {
    const { status } = await made(`${ACCOUNTS}/${name()}/token`, { spec });
    recordSecret('token of an account', String(status['token']));
    return String(status['token']);
  }

  const ask = async (token: string, path = SECRETS): Promise<number> =>
    (await client({ method: 'GET', path, token })).status;
  const remove = (path: string): Promise<unknown> => client({ method: 'DELETE', path });

  it('claims what a real one claims', async () => {
    const { status } = await made(`${ACCOUNTS}/${name()}/token`, {
      spec: { expirationSeconds: 600 },
    });
    const token = String(status['token']);
    recordSecret('token of an account', token);
    const claims = JSON.parse(
      Buffer.from(token.split('.')[1] ?? '', 'base64url').toString(),
    ) as object;
    const issuedAt = Math.floor(nowMs / 1_000);
    expect(claims).toEqual({
      aud: ['https://kubernetes.default.svc'],
      exp: issuedAt + 600,
      iat: issuedAt,
      iss: 'https://kubernetes.default.svc',
      jti: UUID,
      'kubernetes.io': {
        namespace: 'default',
        serviceaccount: { name: name(), uid: UUID },
      },
      nbf: issuedAt,
      sub: `system:serviceaccount:default:${name()}`,
    });
    expect(status['expirationTimestamp']).toBe(
      new Date((issuedAt + 600) * 1_000).toISOString().replace('.000', ''),
    );
  });

  it('is refused once it has expired, though every object is there', async () => {
    const token = await tokenFor({ expirationSeconds: 600 });
    wait(580);
    expect(await ask(token)).toBe(200);
    wait(21);
    expect(await ask(token)).toBe(401);
  });

  it('lives as long as the cluster allows at most', async () => {
    const { status } = await made(`${ACCOUNTS}/${name()}/token`, {
      spec: { expirationSeconds: 9_000 },
    });
    const expiresMs = Date.parse(String(status['expirationTimestamp']));
    expect(expiresMs - Math.floor(nowMs / 1_000) * 1_000).toBe(7_200_000);
  });

  it('that was seen is known for ten seconds after its account is gone', async () => {
    const token = await tokenFor();
    expect(await ask(token)).toBe(200);
    await remove(`${BINDINGS}/${name()}`);
    expect(await ask(token)).toBe(403);
    await remove(`${ACCOUNTS}/${name()}`);
    wait(9);
    expect(await ask(token)).toBe(403);
    wait(2);
    expect(await ask(token)).toBe(401);
  });

  it('that was not seen is unknown as soon as its account is gone', async () => {
    const token = await tokenFor();
    await remove(`${ACCOUNTS}/${name()}`);
    expect(await ask(token)).toBe(401);
  });

  it('has the rights of the next account of the name while it is known', async () => {
    const token = await tokenFor();
    await remove(`${BINDINGS}/${name()}`);
    expect(await ask(token)).toBe(403);
    await remove(`${ACCOUNTS}/${name()}`);
    await made(ACCOUNTS, { metadata: { name: name() } });
    await made(BINDINGS, {
      metadata: { name: name() },
      roleRef: { kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: name() }],
    });
    expect(await ask(token)).toBe(200);
    wait(11);
    expect(await ask(token)).toBe(401);
  });

  it('keeps all rights while its objects are only being deleted, its account for a minute', async () => {
    const token = await tokenFor();
    const body = { metadata: { finalizers: ['example.com/mine'] } };
    for (const path of [`${ACCOUNTS}/${name()}`, `${BINDINGS}/${name()}`]) {
      await client({ method: 'PATCH', path, body, contentType: MERGE, token });
      await client({ method: 'DELETE', path, token });
    }
    wait(50);
    expect(await ask(token)).toBe(200);
    wait(11);
    expect(await ask(token)).toBe(401);
  });

  it('is reviewed from the same memory', async () => {
    const token = await tokenFor();
    const review = async (): Promise<unknown> => {
      const path = '/apis/authentication.k8s.io/v1/tokenreviews';
      return (await made(path, { spec: { token } })).status['authenticated'];
    };
    expect(await review()).toBe(true);
    await remove(`${ACCOUNTS}/${name()}`);
    expect(await review()).toBe(true);
    wait(11);
    expect(await review()).toBeUndefined();
  });

  it('for others is no credential here', async () => {
    const token = await tokenFor({ audiences: ['somebody else'] });
    expect(await ask(token)).toBe(401);
  });

  it('of one cluster is none of another', async () => {
    const token = await tokenFor();
    const other = sandbox.openCluster('b');
    const elsewhere = rawClient(other.adminKubeconfig);
    expect((await elsewhere({ method: 'GET', path: SECRETS, token })).status).toBe(401);
    const admin = await sandbox
      .openCluster('a')
      .kubeconfigFor({ commonName: 'x', organizations: ['system:masters'] });
    const crossed = admin.replace('/clusters/a', '/clusters/b');
    expect((await rawClient(crossed)({ method: 'GET', path: SECRETS })).status).toBe(401);
    expect((await rawClient(admin)({ method: 'GET', path: SECRETS })).status).toBe(200);
  });

  it('that was changed, or says it needs no signature, is refused', async () => {
    const token = await tokenFor();
    const [head = '', payload = '', signature = ''] = token.split('.');
    const encode = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const longer = encode({ ...claims, exp: 9_999_999_999 });
    for (const forged of [
      `${head}.${longer}.${signature}`,
      `${encode({ alg: 'none' })}.${payload}.`,
      `${encode({ alg: 'HS256' })}.${payload}.${signature}`,
      `${head}.${payload}.`,
      `${head}.${payload}`,
      'x',
    ]) {
      expect(await ask(forged)).toBe(401);
    }
  });
});
