// Which cluster answers at an address: the uid of its namespace kube-system, which is made once in a cluster's life
// and never deleted. Comparing it with the one that was attached is left to the broker.

import type { Namespace } from 'kubernetes-types/core/v1.d.ts';

import type { ClusterClient } from './cluster-client.ts';
import { requiredUid } from './required-uid.ts';
import { namespacePath } from './resource-paths.ts';

export async function readClusterUid(client: ClusterClient, signal?: AbortSignal): Promise<string> {
  const action = 'get namespaces';
  const { object } = await client.request<Namespace>({
    method: 'GET',
    path: namespacePath('kube-system'),
    action,
    expect: ['Namespace'],
    signal,
  });
  return requiredUid(object, action);
}
