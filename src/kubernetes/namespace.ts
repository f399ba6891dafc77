// The namespace where grants live: made where a plan allows it, and named as the cause where it is missing.

import type { Namespace } from 'kubernetes-types/core/v1.d.ts';

import { UpstreamError } from '../domain/errors.ts';
import type { ClusterClient } from './cluster-client.ts';
import { hasReason } from './failures.ts';
import { namespacePath, NAMESPACES_PATH } from './resource-paths.ts';

/** The namespace of a plan is not there (any more), or on its way out. */
export class NamespaceMissingError extends UpstreamError {
  constructor(action: string, namespace: string) {
    super({
      system: 'cluster',
      action,
      reason: 'not-found',
      detail: `namespace ${namespace} is missing or being deleted`,
      status: 404,
    });
    this.name = 'NamespaceMissingError';
  }
}

/**
 * Makes the namespace where it is missing; a repeat changes nothing, and two at once make it once. Throws a
 * NamespaceMissingError where it is being deleted, since nothing can be made in it.
 */
export async function ensureNamespace(
  client: ClusterClient,
  name: string,
  signal?: AbortSignal,
): Promise<void> {
  const namespace = await readNamespace(client, name, signal);
  if (namespace === undefined) await createNamespace(client, name, signal);
  else if (namespace.metadata?.deletionTimestamp !== undefined) {
    throw new NamespaceMissingError('create namespaces', name);
  }
}

/** One that is being deleted is not missing yet. */
export async function isNamespaceMissing(
  client: ClusterClient,
  name: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  return (await readNamespace(client, name, signal)) === undefined;
}

async function readNamespace(
  client: ClusterClient,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Namespace | undefined> {
  try {
    const object = await client.request<Namespace>({
      method: 'GET',
      path: namespacePath(name),
      action: 'get namespaces',
      expect: ['Namespace'],
      signal,
    });
    return object;
  } catch (error) {
    if (hasReason(error, 'not-found')) return undefined;
    throw error;
  }
}

async function createNamespace(
  client: ClusterClient,
  name: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const body: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  try {
    await client.request<Namespace>({
      method: 'POST',
      path: NAMESPACES_PATH,
      body,
      action: 'create namespaces',
      expect: ['Namespace'],
      signal,
    });
  } catch (error) {
    // Somebody else was faster.
    if (!hasReason(error, 'conflict')) throw error;
  }
}
