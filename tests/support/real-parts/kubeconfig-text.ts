// Writes a kubeconfig for an identity that has a client certificate; the broker's own writer issues tokens and is not used here,
// so that a fault in it cannot hide itself.

import { stringify } from 'yaml';
import { type ClientIdentity, issueClientCertificate, type KeyPair } from './certificates.ts';

export interface ClusterAddress {
  /** For instance `https://127.0.0.1:23456`. */
  readonly server: string;
  readonly authority: KeyPair;
}

/** Rights on everything, by a group that the API server trusts before it asks RBAC. */
export const ADMIN: ClientIdentity = {
  commonName: 'test-admin',
  organizations: ['system:masters'],
};

export async function kubeconfigFor(
  cluster: ClusterAddress,
  identity: ClientIdentity,
): Promise<string> {
  const client = await issueClientCertificate(cluster.authority, identity);
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'test-cluster',
          cluster: {
            server: cluster.server,
            'certificate-authority-data': base64(cluster.authority.certPem),
          },
        },
      ],
      users: [
        {
          name: identity.commonName,
          user: {
            'client-certificate-data': base64(client.certPem),
            'client-key-data': base64(client.keyPem),
          },
        },
      ],
      contexts: [{ name: 'test', context: { cluster: 'test-cluster', user: identity.commonName } }],
      'current-context': 'test',
    },
    { lineWidth: 0 },
  );
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
