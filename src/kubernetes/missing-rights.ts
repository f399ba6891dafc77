// Which rights an access lacks.
import type { ClusterClient } from './cluster-client.ts';

export async function missingRights(
  client: ClusterClient,
  where: { readonly namespace: string; readonly signal?: AbortSignal },
): Promise<readonly string[]> {
  throw new Error(`not built yet: ${client} ${where.namespace}`);
}
