// Clusters for test files: the real API server of the run, which all share, or one of their own to crash.
// The private keys of every kubeconfig that is made here go to the record of secrets.

import { inject } from 'vitest';
import { parse } from 'yaml';
import { recordSecret } from './leak-record.ts';
import type { ClientIdentity, KeyPair } from './real-parts/certificates.ts';
import { type KubeApiserver, startKubeApiserver } from './real-parts/kube-apiserver.ts';
import { kubeconfigFor } from './real-parts/kubeconfig-text.ts';

/** The part of a cluster that tests may use without being alone on it. */
export type SharedCluster = Pick<KubeApiserver, 'server' | 'adminKubeconfig' | 'kubeconfigFor'> & {
  readonly authority: Pick<KeyPair, 'certPem'>;
};

export function sharedCluster(): SharedCluster {
  const { cluster } = inject('parts');
  if (!cluster.found) throw new Error(`no cluster in this run: ${cluster.howToGet}`);
  recordClientKey(cluster.adminKubeconfig);
  return {
    ...cluster,
    async kubeconfigFor(identity) {
      return recordClientKey(await kubeconfigFor(cluster, identity));
    },
  };
}

/** The test stops it. `flags` as for startKubeApiserver. */
export async function ownCluster(
  options: { readonly flags?: readonly string[] } = {},
): Promise<KubeApiserver> {
  const binaries = inject('parts').clusterBinaries;
  if (!binaries.found) throw new Error(`no cluster to start: ${binaries.howToGet}`);
  const cluster = await startKubeApiserver(binaries, options);
  recordClientKey(cluster.adminKubeconfig);
  return {
    ...cluster,
    async kubeconfigFor(identity: ClientIdentity) {
      return recordClientKey(await cluster.kubeconfigFor(identity));
    },
  };
}

export function recordClientKey(kubeconfig: string): string {
  const content = parse(kubeconfig) as {
    readonly users: readonly { readonly user: { readonly 'client-key-data': string } }[];
  };
  for (const { user } of content.users) {
    const key = Buffer.from(user['client-key-data'], 'base64').toString('utf8');
    recordSecret('client key of a kubeconfig', key);
  }
  return kubeconfig;
}
