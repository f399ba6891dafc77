// The namespace where grants live.
import type { ClusterClient } from './cluster-client.ts';

export async function ensureNamespace(
  client: ClusterClient,
  name: string,
  signal?: AbortSignal,
): Promise<void> {
  throw new Error(`not built yet: ${client} ${name} ${signal}`);
}
