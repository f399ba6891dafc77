// The namespace where grants live: made where a plan allows it, and named as the cause where it is missing.

import type { Namespace } from 'kubernetes-types/core/v1.d.ts';

import { UpstreamError } from '../domain/errors.ts';
import type { ClusterClient } from './cluster-client.ts';
import { namespacePath } from './resource-paths.ts';

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
  const bySignal = signal === undefined ? {} : { signal };
  const expect = ['Namespace'];
  try {
    const get = { method: 'GET', path: namespacePath(name), action: 'get namespaces' } as const;
    const { object } = await client.request<Namespace>({ ...get, expect, ...bySignal });
    if (object.metadata?.deletionTimestamp === undefined) return;
  } catch (error) {
    if (!isReason(error, 'not-found')) throw error;
    await create();
    return;
  }
  throw new NamespaceMissingError('create namespaces', name);

  async function create(): Promise<void> {
    const body: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    const post = {
      method: 'POST',
      path: '/api/v1/namespaces',
      action: 'create namespaces',
    } as const;
    try {
      await client.request<Namespace>({ ...post, body, expect, ...bySignal });
    } catch (error) {
      if (!isReason(error, 'conflict')) throw error;
    }
  }
}

function isReason(error: unknown, reason: UpstreamError['reason']): boolean {
  return error instanceof UpstreamError && error.reason === reason;
}
