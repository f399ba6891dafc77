// Watches and pages of a sandbox cluster, and what its controllers do.

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Agent, request } from 'undici';

import { type RawClient, rawClient } from '../../support/raw-requests.ts';
import { startTestSandbox, type TestCluster, type TestSandbox } from '../../support/sandbox.ts';

const MERGE = 'application/merge-patch+json';

interface Event {
  readonly type: string;
  readonly object: {
    readonly metadata: { readonly name: string; readonly resourceVersion: string };
    readonly code?: number;
  };
}

describe('a sandbox cluster', () => {
  let sandbox: TestSandbox;
  let cluster: TestCluster;
  let client: RawClient;
  let namespaces = 0;

  beforeAll(async () => {
    sandbox = await startTestSandbox({ controllers: true });
    cluster = sandbox.openCluster('a');
    client = rawClient(cluster.adminKubeconfig);
  });
  afterAll(() => sandbox.stop());

  async function send(method: string, path: string, body?: object): Promise<unknown> {
    const contentType = method === 'PATCH' ? { contentType: MERGE } : {};
    const { text } = await client({
      method,
      path,
      ...(body === undefined ? {} : { body }),
      ...contentType,
    });
    return JSON.parse(text);
  }

  /** The path of the config maps of a namespace that is made for it. */
  async function newMaps(): Promise<string> {
    namespaces += 1;
    const name = `space-${namespaces}`;
    await send('POST', '/api/v1/namespaces', { metadata: { name } });
    return `/api/v1/namespaces/${name}/configmaps`;
  }

  const named = (name: string, labels: object = {}): object => ({ metadata: { name, labels } });

  /** Opens a watch; `next` is the next so many events, as `TYPE name`. */
  async function watch(
    path: string,
    of = cluster,
  ): Promise<{
    next: (count: number) => Promise<readonly string[]>;
    ended: () => Promise<boolean>;
  }> {
    const dispatcher = new Agent({ connect: { ca: of.ca } });
    onTestFinished(() => dispatcher.destroy());
    const { body } = await request(of.server + path, {
      dispatcher,
      headers: { authorization: `Bearer ${of.adminToken}` },
    });
    // A test that ends while it watches cuts it.
    body.on('error', () => undefined);
    const lines = linesOf(body);
    return {
      async next(count) {
        const events: string[] = [];
        while (events.length < count) {
          const { value, done } = await lines.next();
          if (done === true) throw new Error(`the watch has ended after ${events.join(', ')}`);
          const { type, object } = JSON.parse(value) as Event;
          events.push(`${type} ${object.metadata.name}`);
        }
        return events;
      },
      ended: async () => (await lines.next()).done === true,
    };
  }

  it('tells of every change, from what is there on', async () => {
    const maps = await newMaps();
    await send('POST', maps, named('a'));
    const { next } = await watch(`${maps}?watch=true`);
    expect(await next(1)).toEqual(['ADDED a']);
    await send('PATCH', `${maps}/a`, { data: { k: 'v' } });
    // Nothing has changed: nothing is told.
    await send('PATCH', `${maps}/a`, { data: { k: 'v' } });
    await send('POST', maps, named('b'));
    await send('DELETE', `${maps}/a`);
    expect(await next(3)).toEqual(['MODIFIED a', 'ADDED b', 'DELETED a']);
  });

  it('tells what has been since a version', async () => {
    const maps = await newMaps();
    await send('POST', maps, named('a'));
    const { metadata } = (await send('GET', maps)) as { metadata: { resourceVersion: string } };
    await send('POST', maps, named('b'));
    await send('DELETE', `${maps}/a`);
    const { next } = await watch(`${maps}?watch=true&resourceVersion=${metadata.resourceVersion}`);
    expect(await next(2)).toEqual(['ADDED b', 'DELETED a']);
  });

  it('tells of what comes into a selection and leaves it', async () => {
    const maps = await newMaps();
    await send('POST', maps, named('a', { tier: 'back' }));
    const { next } = await watch(`${maps}?watch=true&labelSelector=tier%3Dfront`);
    await send('PATCH', `${maps}/a`, { metadata: { labels: { tier: 'front' } } });
    await send('PATCH', `${maps}/a`, { data: { k: 'v' } });
    await send('PATCH', `${maps}/a`, { metadata: { labels: { tier: null } } });
    await send('PATCH', `${maps}/a`, { metadata: { labels: { tier: 'front' } } });
    await send('DELETE', `${maps}/a`);
    expect(await next(5)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a', 'DELETED a']);
  });

  it('ends a watch in time, and when its cluster goes', async () => {
    const maps = await newMaps();
    const short = await watch(`${maps}?watch=true&timeoutSeconds=1`);
    expect(await short.ended()).toBe(true);
    const other = sandbox.openCluster('other');
    const watching = await watch('/api/v1/namespaces/default/configmaps?watch=true', other);
    sandbox.sandbox.removeCluster('other');
    expect(await watching.ended()).toBe(true);
  });

  it('lists in pages', async () => {
    const maps = await newMaps();
    for (const name of ['a', 'b', 'c', 'd', 'e']) await send('POST', maps, named(name));
    interface Page {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
      readonly metadata: { readonly continue?: string; readonly remainingItemCount?: number };
    }
    const pages: unknown[] = [];
    let from = '';
    do {
      const page = (await send('GET', `${maps}?limit=2&continue=${from}`)) as Page;
      pages.push([
        page.items.map(({ metadata }) => metadata.name).join(''),
        page.metadata.remainingItemCount,
      ]);
      from = page.metadata.continue ?? '';
    } while (from !== '');
    expect(pages).toEqual([
      ['ab', 3],
      ['cd', 1],
      ['e', undefined],
    ]);
  });

  it('ends a namespace once nothing holds what is in it', async () => {
    const maps = await newMaps();
    const namespace = maps.replace('/configmaps', '');
    await send('POST', maps, { metadata: { name: 'held', finalizers: ['example.com/mine'] } });
    await send('POST', maps, named('free'));
    await send('DELETE', namespace);
    expect(await send('GET', namespace)).toMatchObject({ status: { phase: 'Terminating' } });
    expect(await send('GET', maps)).toMatchObject({ items: [{ metadata: { name: 'held' } }] });
    expect(await send('POST', maps, named('late'))).toMatchObject({ code: 403 });
    await send('PATCH', `${maps}/held`, { metadata: { finalizers: null } });
    expect(await send('GET', namespace)).toMatchObject({ code: 404 });
  });
});

async function* linesOf(body: AsyncIterable<Buffer>): AsyncGenerator<string, undefined> {
  let rest = '';
  for await (const piece of body) {
    const lines = (rest + piece.toString()).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
