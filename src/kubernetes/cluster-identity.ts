// Which cluster answers at an address: the uid of its namespace kube-system, which is made once in a cluster's life
// and never deleted. Comparing it with the one that was attached is left to the broker.

import type { Namespace } from 'kubernetes-types/core/v1.d.ts';

import type { ClusterClient } from './cluster-client.ts';
import { requiredUid } from './required-uid.ts';
import { namespacePath } from './resource-paths.ts';
import { SharedCall } from './shared-call.ts';

const ACTION = 'get namespaces';

/** Of the cluster that the client's newest connection leads to. */
export async function readClusterUid(client: ClusterClient, signal?: AbortSignal): Promise<string> {
  const object = await client.requestOverNewest<Namespace>({
    method: 'GET',
    path: namespacePath('kube-system'),
    action: ACTION,
    expect: ['Namespace'],
    signal,
  });
  return requiredUid(object, ACTION);
}

interface Asked {
  /** How many connections had been opened before the cluster was asked. */
  readonly connections: number;
  readonly uid: SharedCall<string>;
}

/**
 * The identity of what answers one client, asked again only when connections were opened since, or none is left.
 *
 * A connection leads to one server for as long as it lives, so what the newest one leads to holds for all before it, as
 * long as an address is switched from the attached cluster to another and not back: those before it lead there too, or
 * lead to the attached one still. What is not seen: an address that went to another cluster and came back between two
 * askings, and one behind which several clusters take turns, by connection or by request.
 */
export class ClusterIdentity {
  readonly #client: ClusterClient;
  #asked: Asked | undefined;

  constructor(client: ClusterClient) {
    this.#client = client;
  }

  /** Callers at the same time share one question. Throws an UpstreamError where it was not answered. */
  async uid(signal?: AbortSignal): Promise<string> {
    const asked = this.#standing() ?? this.#ask();
    this.#asked = asked;
    try {
      return await asked.uid.outcome(signal);
    } catch (error) {
      if (asked.uid.isSettled && this.#asked === asked) this.#asked = undefined;
      throw error;
    }
  }

  #standing(): Asked | undefined {
    const asked = this.#asked;
    if (asked === undefined || asked.uid.isAbandoned) return undefined;
    if (asked.connections !== this.#client.connectionsOpened) return undefined;
    return asked.uid.isSettled && !this.#client.isConnected ? undefined : asked;
  }

  #ask(): Asked {
    return {
      connections: this.#client.connectionsOpened,
      uid: new SharedCall(ACTION, (signal) => readClusterUid(this.#client, signal)),
    };
  }
}
