// The open clients, one a cluster, so that connections live on from one call to the next. Where the access comes
// from, and when a key's access is not to be used any more, is left to the provisioners.

import type { AddressGuard } from './address-guard.ts';
import { type ClusterAccess, sameAccess } from './cluster-access.ts';
import { ClusterClient, type ClusterLimits } from './cluster-client.ts';

export interface OpenClustersOptions {
  /** How long a retired client goes on serving those who hold it: longer than any of them may take. */
  readonly retireAfterMs: number;
  /** Beyond it, the client that was used least recently is retired. */
  readonly maxOpen?: number;
  readonly limits?: Partial<ClusterLimits>;
  /** Asked about the addresses of all clusters but those that are trusted. */
  readonly guard?: AddressGuard;
}

export interface ClientTerms {
  /** The access was made by ourselves or our own systems, so its address is not judged. */
  readonly isTrusted?: boolean;
}

/** Idle connections close after 55 s by themselves; what stays of an unused client is its parsed certificates. */
const DEFAULT_MAX_OPEN = 512;

export class OpenClusters {
  readonly #retireAfterMs: number;
  readonly #maxOpen: number;
  readonly #limits: Partial<ClusterLimits>;
  readonly #guard: AddressGuard | undefined;
  /** In the order of their last use. */
  readonly #open = new Map<string, ClusterClient>();
  readonly #retired = new Map<ClusterClient, NodeJS.Timeout>();

  constructor(options: OpenClustersOptions) {
    const { retireAfterMs, maxOpen = DEFAULT_MAX_OPEN, limits = {}, guard } = options;
    this.#retireAfterMs = retireAfterMs;
    this.#maxOpen = maxOpen;
    this.#limits = limits;
    this.#guard = guard;
  }

  /**
   * The same access under the same key is the same client; another access replaces it. Throws an UpstreamError where
   * TLS cannot be set up from the access.
   */
  clientFor(
    key: string,
    access: ClusterAccess,
    { isTrusted = false }: ClientTerms = {},
  ): ClusterClient {
    const open = this.#open.get(key);
    if (open !== undefined && sameAccess(open.access, access)) {
      this.#open.delete(key);
      this.#open.set(key, open);
      return open;
    }
    const limits = this.#limits;
    const guard = isTrusted ? undefined : this.#guard;
    const client = new ClusterClient(access, { limits, guard });
    this.drop(key);
    this.#open.set(key, client);
    this.#retireLeastRecentlyUsed();
    return client;
  }

  /** The next call of clientFor opens anew; calls through the dropped client end as they would have. */
  drop(key: string): void {
    const client = this.#open.get(key);
    if (client === undefined) return;
    this.#open.delete(key);
    const close = (): void => {
      this.#retired.delete(client);
      void client.close();
    };
    this.#retired.set(client, setTimeout(close, this.#retireAfterMs).unref());
  }

  /** Waits for calls in flight. */
  async close(): Promise<void> {
    const clients = [...this.#open.values(), ...this.#retired.keys()];
    for (const timer of this.#retired.values()) clearTimeout(timer);
    this.#open.clear();
    this.#retired.clear();
    await Promise.all(clients.map((client) => client.close()));
  }

  #retireLeastRecentlyUsed(): void {
    const [oldest] = this.#open.keys();
    if (this.#open.size > this.#maxOpen && oldest !== undefined) this.drop(oldest);
  }
}
