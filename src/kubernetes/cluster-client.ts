// A keep-alive client of one cluster.
import type { ClusterAccess } from './cluster-access.ts';

export interface ClusterClientOptions {
  readonly userAgent?: string;
}

export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string; readonly uid?: string };
}

export interface ClusterCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the server's own path, query included: `/api/v1/namespaces/kube-system`. */
  readonly path: string;
  /** Sent as JSON; a PATCH is a JSON merge patch. */
  readonly body?: unknown;
  /** Verb and resource, for errors: `create serviceaccounts`. */
  readonly action: string;
  /** The kinds that the answer may be of; another is a `malformed-answer`. */
  readonly expect: readonly string[];
  readonly signal?: AbortSignal;
}

export interface ClusterAnswer<T> {
  readonly object: T;
  /** Texts of the answer's Warning headers. */
  readonly warnings: readonly string[];
}

export class ClusterClient {
  readonly access: ClusterAccess;
  constructor(access: ClusterAccess, _options: ClusterClientOptions = {}) {
    this.access = access;
  }
  async request<T extends KubernetesObject>(call: ClusterCall): Promise<ClusterAnswer<T>> {
    throw new Error(`not built yet: ${call.action}`);
  }
  async close(): Promise<void> {}
}
