// Which cluster this is.
import type { ClusterClient } from './cluster-client.ts';

export async function readClusterUid(client: ClusterClient, signal?: AbortSignal): Promise<string> {
  throw new Error(`not built yet: ${client} ${signal}`);
}
