// An administrator of a test cluster who has a token, for what cannot pass on a client certificate; and his look at
// what an installation has on the cluster.

import { randomBytes } from 'node:crypto';
import { Secret } from '../../src/domain/secret.ts';
import { ClusterClient } from '../../src/kubernetes/cluster-client.ts';
import { readKubeconfig } from '../../src/kubernetes/read-kubeconfig.ts';
import type { SharedCluster } from './cluster.ts';
import { recordSecret } from './leak-record.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** Longer than any run of the tests. */
const TOKEN_SECONDS = 24 * 60 * 60;

interface TokenAnswer {
  readonly kind: string;
  readonly status: { readonly token: string };
}

/** Makes a ServiceAccount with all rights, and a token for it. */
export async function administratorToken(cluster: SharedCluster): Promise<string> {
  const client = new ClusterClient(readKubeconfig(cluster.adminKubeconfig));
  const name = `administrator-${randomBytes(6).toString('hex')}`;
  const accounts = '/api/v1/namespaces/kube-system/serviceaccounts';
  const post = { method: 'POST', action: 'make an administrator' } as const;
  try {
    await client.request({
      ...post,
      path: accounts,
      body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } },
      expect: ['ServiceAccount'],
    });
    await client.request({
      ...post,
      path: `${RBAC}/clusterrolebindings`,
      body: {
        apiVersion: `${RBAC_GROUP}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'ServiceAccount', name, namespace: 'kube-system' }],
      },
      expect: ['ClusterRoleBinding'],
    });
    const object = await client.request<TokenAnswer>({
      ...post,
      path: `${accounts}/${name}/token`,
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: TOKEN_SECONDS },
      },
      expect: ['TokenRequest'],
    });
    recordSecret('token of an administrator', object.status.token);
    return object.status.token;
  } finally {
    await client.close();
  }
}

/** An object as far as tests look at it. */
export interface SeenObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export interface ClusterEyes {
  /** Accounts, roles and role bindings with the labels of that installation, in that order. */
  objectsOf(installation: string): Promise<readonly SeenObject[]>;
  /** The status that a GET with that token gets; of a question that needs an administrator's rights unless said. */
  statusWith(token: string, path?: string): Promise<number>;
  /** Any call with admin rights, below the server's address. */
  call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

const COLLECTIONS: Readonly<Record<string, string>> = {
  ServiceAccount: '/api/v1/serviceaccounts',
  ClusterRole: `${RBAC}/clusterroles`,
  ClusterRoleBinding: `${RBAC}/clusterrolebindings`,
};

/** Kinds of answers that tests ask for. */
const KINDS = ['Status', 'Namespace', 'Secret', ...Object.keys(COLLECTIONS)];

export function openClusterEyes(adminKubeconfig: string): ClusterEyes {
  const client = new ClusterClient(readKubeconfig(adminKubeconfig));
  return {
    async objectsOf(installation) {
      const labels = `app.kubernetes.io/managed-by=runtime-broker,runtime-broker/installation=${installation}`;
      const lists = Object.entries(COLLECTIONS).map(async ([kind, path]) => {
        const object = await client.request<{
          kind: string;
          items: Omit<SeenObject, 'kind'>[];
        }>({
          method: 'GET',
          path: `${path}?labelSelector=${encodeURIComponent(labels)}`,
          action: `list ${kind}`,
          expect: [`${kind}List`],
        });
        return object.items.map((item) => ({ ...item, kind }) as SeenObject);
      });
      return (await Promise.all(lists)).flat();
    },
    statusWith: (token, path = '/api/v1/namespaces/kube-system/secrets?limit=1') =>
      client.statusWith(new Secret(token), { path, action: 'use a token' }),
    async call(method, path, body) {
      const object = await client.request({
        method,
        path,
        action: `${method} ${path}`,
        expect: KINDS,
        ...(body === undefined ? {} : { body }),
      });
      return object;
    },
    close: () => client.close(),
  };
}
