// What the broker issues, in the hands of programs that are not ours: a client library that reads the kubeconfig, and a
// program that has no use for one and goes by `server`, `certificate_authority_data` and `token` alone. Stock kubectl,
// which is Go's client library, is in issue.test.ts.

import { randomUUID } from 'node:crypto';
import { EventEmitter, on } from 'node:events';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { ApiException, CoreV1Api, KubeConfig, Watch } from '@kubernetes/client-node';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { untilOperationEnds } from '../integration/bindings/scene.ts';
import { startBroker, type TestBroker } from '../support/broker.ts';
import { describeOnClusters } from '../support/clusters-under-test.ts';
import { type FreshDatabase, freshDatabaseOn } from '../support/database.ts';
import type { BindingBody } from '../support/platform.ts';

type Credentials = BindingBody['credentials'];

/** There on every cluster, and nobody else's config maps are looked at. */
const NAMESPACE = 'default';

/** What a program does with a cluster. A refusal is a `Refused`, whatever the library makes of it. */
interface Program {
  listNamespaces(): Promise<readonly string[]>;
  createConfigMap(name: string, data: Record<string, string>): Promise<void>;
  readConfigMap(name: string): Promise<unknown>;
  deleteConfigMap(name: string): Promise<void>;
  /** What happens to the config map of that name, until the signal: `ADDED` and so on. */
  watchConfigMap(name: string, signal: AbortSignal): Promise<AsyncIterable<string>>;
}

class Refused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the cluster has answered ${status}`);
    this.status = status;
  }
}

const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;

/** By the kubeconfig, as its text. */
function clientNode({ kubeconfig }: Credentials): Program {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const refusing = async <T>(call: Promise<T>): Promise<T> =>
    await call.catch((error: unknown) => {
      throw error instanceof ApiException ? new Refused(error.code) : error;
    });
  return {
    async listNamespaces() {
      const { items } = await refusing(core.listNamespace());
      return items.map(({ metadata }) => metadata?.name ?? '');
    },
    async createConfigMap(name, data) {
      const body = { metadata: { name }, data };
      await refusing(core.createNamespacedConfigMap({ namespace: NAMESPACE, body }));
    },
    async readConfigMap(name) {
      const found = await refusing(core.readNamespacedConfigMap({ namespace: NAMESPACE, name }));
      return found.data;
    },
    async deleteConfigMap(name) {
      await refusing(core.deleteNamespacedConfigMap({ namespace: NAMESPACE, name }));
    },
    async watchConfigMap(name, signal) {
      const events = new EventEmitter();
      const phases = on(events, 'phase', { signal, close: ['end'] });
      const watch = await new Watch(config).watch(
        CONFIG_MAPS,
        { fieldSelector: `metadata.name=${name}` },
        (phase) => events.emit('phase', phase),
        () => events.emit('end'),
      );
      signal.addEventListener('abort', () => watch.abort());
      return (async function* () {
        for await (const [phase] of phases) yield String(phase);
      })();
    },
  };
}

/** By the three fields, with plain HTTP. */
function plainHttp(credentials: Credentials): Program {
  const { server, certificate_authority_data: authority = '', token } = credentials;
  const ca = Buffer.from(authority, 'base64').toString('utf8');
  const dispatcher = new Agent({ connect: { ca } });
  onTestFinished(() => dispatcher.destroy());
  const call = async (path: string, init: Parameters<typeof fetch>[1] = {}) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${server}${path}`, { dispatcher, headers, ...init });
    if (!answer.ok) {
      await answer.body?.cancel();
      throw new Refused(answer.status);
    }
    return answer;
  };
  return {
    async listNamespaces() {
      const answer = await call('/api/v1/namespaces');
      const { items } = (await answer.json()) as { items: { metadata: { name: string } }[] };
      return items.map(({ metadata }) => metadata.name);
    },
    async createConfigMap(name, data) {
      const body = JSON.stringify({ metadata: { name }, data });
      await (await call(CONFIG_MAPS, { method: 'POST', body })).json();
    },
    async readConfigMap(name) {
      const answer = await call(`${CONFIG_MAPS}/${name}`);
      return ((await answer.json()) as { data: unknown }).data;
    },
    async deleteConfigMap(name) {
      await (await call(`${CONFIG_MAPS}/${name}`, { method: 'DELETE' })).json();
    },
    async watchConfigMap(name, signal) {
      const query = `watch=true&fieldSelector=metadata.name%3D${name}`;
      const { body } = await call(`${CONFIG_MAPS}?${query}`, { signal });
      if (body === null) throw new Error('the watch has no body');
      // From now on, and not from the first that is asked for: what comes in between would be lost.
      const lines = createInterface(Readable.fromWeb(body))[Symbol.asyncIterator]();
      return (async function* () {
        for await (const line of lines) yield (JSON.parse(line) as { type: string }).type;
      })();
    },
  };
}

describeOnClusters('an issued binding', (open) => {
  let database: FreshDatabase;
  let broker: TestBroker;
  const instance = randomUUID();

  beforeAll(async () => {
    database = await freshDatabaseOn('embedded');
    broker = await startBroker({ databaseUrl: database.url, env: database.env });
    await broker.platform.provision({ instance }, open().adminKubeconfig);
    await untilOperationEnds(broker.platform, { instance }, 'succeeded');
  });
  afterAll(async () => {
    await broker.stop();
    await database.drop();
  });

  async function bound(): Promise<{ credentials: Credentials; unbind: () => Promise<number> }> {
    const ids = { instance, binding: randomUUID() };
    const { status, body } = await broker.platform.bind(ids);
    expect(status).toBe(201);
    return {
      credentials: body.credentials,
      unbind: async () => (await broker.platform.unbind(ids)).status,
    };
  }

  describe.each([
    ['@kubernetes/client-node, from the kubeconfig', clientNode],
    ['plain HTTP, from server, CA and token', plainHttp],
  ] as const)('used by %s', (_, programOf) => {
    it('lists namespaces, and makes, reads and deletes a config map', async () => {
      const { credentials, unbind } = await bound();
      const program = programOf(credentials);
      const name = `client-${randomUUID()}`;

      expect(await program.listNamespaces()).toContain('kube-system');
      await program.createConfigMap(name, { colour: 'blue' });
      expect(await program.readConfigMap(name)).toEqual({ colour: 'blue' });
      await program.deleteConfigMap(name);
      await expect(program.readConfigMap(name)).rejects.toMatchObject({ status: 404 });
      expect(await unbind()).toBe(200);
    });

    it('watches what happens', async () => {
      const { credentials, unbind } = await bound();
      const program = programOf(credentials);
      const name = `watched-${randomUUID()}`;
      const ended = new AbortController();
      onTestFinished(() => ended.abort());

      const watched = await program.watchConfigMap(name, ended.signal);
      const phases = watched[Symbol.asyncIterator]();
      await program.createConfigMap(name, {});
      expect((await phases.next()).value).toBe('ADDED');
      await program.deleteConfigMap(name);
      expect((await phases.next()).value).toBe('DELETED');
      expect(await unbind()).toBe(200);
    });

    it('is refused once the binding is revoked, for reading and for writing', async () => {
      const { credentials, unbind } = await bound();
      const program = programOf(credentials);
      const name = `refused-${randomUUID()}`;
      expect(await program.listNamespaces()).toContain(NAMESPACE);

      expect(await unbind()).toBe(200);

      // The authentication of a token is cached for ten seconds: 403 until then, 401 after it.
      const outcomes = await Promise.allSettled([
        program.listNamespaces(),
        program.createConfigMap(name, {}),
      ]);
      const status = expect.toBeOneOf([401, 403]) as number;
      expect(outcomes).toMatchObject([{ reason: { status } }, { reason: { status } }]);
    });

    it('is not trusted with another token than its own', async () => {
      const { credentials, unbind } = await bound();
      const { token, kubeconfig } = credentials;
      const forged = `${token.slice(0, -8)}AAAAAAAA`;
      const program = programOf({
        ...credentials,
        token: forged,
        kubeconfig: kubeconfig.replace(token, forged),
      });

      await expect(program.listNamespaces()).rejects.toMatchObject({ status: 401 });
      expect(await unbind()).toBe(200);
    });
  });
});
