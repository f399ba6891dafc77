import type { IncomingMessage } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';

import { type Answer, json, startHttpsServer } from '../../tests/support/https-server.ts';
import { Secret } from '../domain/secret.ts';
import { ClusterClient } from './cluster-client.ts';
import { listOwnedPage, type OwnedPage, type PageOrder } from './list-owned.ts';

// What a real API server does is tested in tests/cluster/orphans.test.ts; here are its refusals, and servers that lie.

const INSTALLATION = '6a1f0c5e-2b0d-4e43-9a53-0d7c9a3b3a55';

const status = (code: number): Answer => json(code, { kind: 'Status', code, message: 'no' });

function listOf(items: readonly unknown[], next?: unknown): Answer {
  return json(200, { kind: 'PartialObjectMetadataList', metadata: { continue: next }, items });
}

const account = (name: string): object => ({
  metadata: { name, namespace: 'a', uid: `uid-${name}` },
});

interface Listing {
  readonly requests: readonly URL[];
  readonly list: (order?: Partial<PageOrder>) => Promise<OwnedPage>;
}

async function startCluster(
  script: (url: URL, request: IncomingMessage) => Answer,
): Promise<Listing> {
  const server = await startHttpsServer();
  const requests: URL[] = [];
  server.answerWith((request, response) => {
    const url = new URL(request.url ?? '', server.url);
    requests.push(url);
    script(url, request)(request, response);
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
  return {
    requests,
    list: (order) =>
      listOwnedPage(
        { client },
        {
          kind: 'ServiceAccount',
          installation: INSTALLATION,
          namespace: 'kyma-system',
          limit: 250,
          ...order,
        },
      ),
  };
}

describe('a page of objects with our labels', () => {
  it('is asked for by both labels and as metadata alone', async () => {
    let accept: string | undefined;
    const { list, requests } = await startCluster((_, request) => {
      accept = request.headers.accept;
      return listOf([account('one')], 'more');
    });
    expect(await list({ after: 'before' })).toEqual({
      objects: [
        { kind: 'ServiceAccount', name: 'one', namespace: 'a', uid: 'uid-one', annotations: {} },
      ],
      next: 'more',
      limit: 250,
    });
    expect(Object.fromEntries(requests[0]?.searchParams ?? [])).toEqual({
      labelSelector: `app.kubernetes.io/managed-by=runtime-broker,runtime-broker/installation=${INSTALLATION}`,
      limit: '250',
      continue: 'before',
    });
    expect(accept).toMatch(/^application\/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,/);
  });

  it('is one of whole objects where the server has no other form', async () => {
    const { list } = await startCluster(() =>
      json(200, { kind: 'ServiceAccountList', items: [account('one')] }),
    );
    expect((await list()).objects).toHaveLength(1);
  });

  it('is of one namespace where the accounts of all may not be listed', async () => {
    const { list, requests } = await startCluster(({ pathname }) =>
      pathname === '/api/v1/serviceaccounts' ? status(403) : listOf([account('one')]),
    );
    expect((await list()).objects).toHaveLength(1);
    expect(requests.at(-1)?.pathname).toBe('/api/v1/namespaces/kyma-system/serviceaccounts');
  });

  it('fails where the access may list nothing', async () => {
    const { list } = await startCluster(() => status(403));
    await expect(list()).rejects.toMatchObject({ reason: 'forbidden' });
    await expect(list({ kind: 'ClusterRole' })).rejects.toMatchObject({ reason: 'forbidden' });
  });

  it.each([410, 400])(
    'is the first one again where its continuation is answered by %d',
    async (code) => {
      const { list } = await startCluster(({ searchParams }) =>
        searchParams.has('continue') ? status(code) : listOf([account('first')]),
      );
      expect((await list({ after: 'expired' })).objects).toMatchObject([{ name: 'first' }]);
      const { list: listNothing } = await startCluster(() => status(code));
      await expect(listNothing({ after: 'expired' })).rejects.toMatchObject({ status: code });
    },
  );

  it('is a shorter one where it does not fit into an answer, down to a single object', async () => {
    const long = 'x'.repeat(9 * 1024 * 1024);
    const { list, requests } = await startCluster(({ searchParams }) =>
      Number(searchParams.get('limit')) > 4 ? listOf([account(long)]) : listOf([account('one')]),
    );
    expect(await list()).toMatchObject({ limit: 4, objects: [{ name: 'one' }] });
    expect(requests.map(({ searchParams }) => searchParams.get('limit'))).toEqual([
      '250',
      '32',
      '4',
    ]);
    const { list: listLies } = await startCluster(() => listOf([account(long)]));
    await expect(listLies()).rejects.toMatchObject({ reason: 'malformed-answer' });
  });

  it('leaves out what cannot be an object', async () => {
    const lies = [
      null,
      7,
      {},
      { metadata: null },
      { metadata: { name: 3, uid: 'u', namespace: 'a' } },
    ];
    const inNoNamespace = { metadata: { name: 'x', uid: 'u' } };
    const { list } = await startCluster(() => listOf([...lies, inNoNamespace, account('one')]));
    expect((await list()).objects.map(({ name }) => name)).toEqual(['one']);
    const { list: listNone } = await startCluster(() =>
      json(200, { kind: 'ClusterRoleList', items: 'none' }),
    );
    expect((await listNone({ kind: 'ClusterRole' })).objects).toEqual([]);
  });

  it.each([
    { what: 'nothing', next: '' },
    { what: 'a number', next: 7 },
    { what: 'a zero', next: 'a\0b' },
    { what: 'too much', next: 'x'.repeat(4_097) },
  ])('is the last one where it continues with $what', async ({ next }) => {
    const { list } = await startCluster(() => listOf([], next));
    expect((await list()).next).toBeUndefined();
  });
});
