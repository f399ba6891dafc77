// The Kubernetes client library for JavaScript, for machines without kubectl: a stock program too, that knows nothing of
// the broker and reads the same file.

import type { ApiException, CoreV1Api } from '@kubernetes/client-node';
import { type ClusterUser, NAMESPACE, type Use } from './cluster-user.ts';
import { sent } from './narration.ts';

/** As with kubectl; the library's own default is to wait for ever. */
const CALL_LIMIT_MS = 15_000;

type Library = Awaited<ReturnType<typeof load>>;

/** Takes half a second, which a machine with kubectl need not spend. */
function load() {
  return import('@kubernetes/client-node');
}

interface Call {
  /** As a program has it. */
  readonly shown: string;
  /** @returns what to tell of the answer */
  readonly ask: (api: CoreV1Api, library: Library) => Promise<readonly string[]>;
}

export class ClientLibrary implements ClusterUser {
  readonly name = '@kubernetes/client-node';
  /** Begun now: the broker starts meanwhile. */
  readonly #library = load();

  listNamespaces(kubeconfigFile: string): Promise<Use> {
    return this.#call(kubeconfigFile, {
      shown: 'listNamespace()',
      ask: async (api) => {
        const { items } = await api.listNamespace();
        return items.map(
          ({ metadata, status }) => `${(metadata?.name ?? '').padEnd(18)}${status?.phase ?? ''}`,
        );
      },
    });
  }

  createConfigMap(kubeconfigFile: string, name: string): Promise<Use> {
    return this.#call(kubeconfigFile, {
      shown: `createNamespacedConfigMap({ body: { metadata: { name: '${name}' } } … })`,
      ask: async (api) => {
        const body = { metadata: { name } };
        await api.createNamespacedConfigMap({ namespace: NAMESPACE, body });
        return [`configmap/${name} created`];
      },
    });
  }

  deleteConfigMap(kubeconfigFile: string, name: string): Promise<Use> {
    return this.#call(kubeconfigFile, {
      shown: `deleteNamespacedConfigMap({ name: '${name}' … })`,
      ask: async (api, { ApiException }) => {
        try {
          await api.deleteNamespacedConfigMap({ namespace: NAMESPACE, name });
          return [`configmap/${name} deleted`];
        } catch (error) {
          if (error instanceof ApiException && error.code === 404) return [];
          throw error;
        }
      },
    });
  }

  async #call(kubeconfigFile: string, { shown, ask }: Call): Promise<Use> {
    const library = await this.#library;
    const config = new library.KubeConfig();
    config.loadFromFile(kubeconfigFile);
    const line = sent(`client.${shown}`);
    try {
      const api = config.makeApiClient(library.CoreV1Api);
      return {
        outcome: 'done',
        lines: [line, ...(await Promise.race([ask(api, library), late()]))],
      };
    } catch (error) {
      if (error instanceof library.ApiException) {
        return { outcome: outcomeOf(error.code), lines: [line, wordsOf(error)] };
      }
      return { outcome: 'failed', lines: [line, causeOf(error)] };
    }
  }
}

async function late(): Promise<never> {
  const timeout = AbortSignal.timeout(CALL_LIMIT_MS);
  return await new Promise((_, reject) => {
    timeout.addEventListener('abort', () => reject(timeout.reason as Error));
  });
}

function outcomeOf(status: number): Use['outcome'] {
  return status === 401 || status === 403 ? 'refused' : 'failed';
}

/** The message of the cluster's Status object. */
function wordsOf({ code, body }: ApiException<unknown>): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const message = /"message":\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1]?.replaceAll('\\"', '"');
  return `${code}: ${message ?? text}`;
}

/** fetch's own words for a connection that fails are two, and its cause has the rest. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
