// Makes a control plane of a cluster: the namespace, the kinds, and a user for the broker who has no right beyond those
// that the documentation asks for.
import { ClusterClient } from '../../../src/kubernetes/cluster-client.ts';
import { hasReason } from '../../../src/kubernetes/failures.ts';
import { readKubeconfig } from '../../../src/kubernetes/read-kubeconfig.ts';
import type { SharedCluster } from '../cluster.ts';
import { until } from '../until.ts';
import { DEFINITIONS } from './definitions.ts';

export const NAMESPACE = 'kcp-system';

const INFRASTRUCTURE_PATH = `/apis/infrastructuremanager.kyma-project.io/v1/namespaces/${NAMESPACE}`;
export const PATHS = {
  runtimes: `${INFRASTRUCTURE_PATH}/runtimes`,
  gardenerClusters: `${INFRASTRUCTURE_PATH}/gardenerclusters`,
  kymas: `/apis/operator.kyma-project.io/v1beta2/namespaces/${NAMESPACE}/kymas`,
  secrets: `/api/v1/namespaces/${NAMESPACE}/secrets`,
} as const;

/** An object of the control plane as far as tests look at it. */
export interface PlaneObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
  };
  readonly spec?: unknown;
  readonly status?: { readonly state?: string };
}

export interface PlaneEyes {
  readonly client: ClusterClient;
  list(path: string): Promise<readonly PlaneObject[]>;
  find(path: string, name: string): Promise<PlaneObject | undefined>;
  create(path: string, object: unknown): Promise<void>;
  /** A JSON merge patch; with `/status` behind the name, of the status. */
  patch(path: string, name: string, patch: unknown): Promise<void>;
  /** What is not there is gone. */
  remove(path: string, name: string): Promise<void>;
  close(): Promise<void>;
}

const KINDS =
  'Runtime GardenerCluster Kyma Secret Namespace Status CustomResourceDefinition Role RoleBinding'.split(
    ' ',
  );

/** For all rights. */
export function openPlaneEyes(adminKubeconfig: string): PlaneEyes {
  const client = new ClusterClient(readKubeconfig(adminKubeconfig));
  const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) =>
    client.request<PlaneObject & { readonly items?: readonly PlaneObject[] }>({
      method,
      path,
      action: `${method} ${path}`,
      expect: [...KINDS, ...KINDS.map((kind) => `${kind}List`)],
      ...(body === undefined ? {} : { body }),
    });
  const unlessMissing = async <T>(asked: Promise<T>): Promise<T | undefined> => {
    try {
      return await asked;
    } catch (error) {
      if (hasReason(error, 'not-found')) return undefined;
      throw error;
    }
  };
  return {
    client,
    list: async (path) => (await call('GET', path)).items ?? [],
    find: (path, name) => unlessMissing(call('GET', `${path}/${name}`)),
    async create(path, object) {
      await call('POST', path, object);
    },
    async patch(path, name, patch) {
      await call('PATCH', `${path}/${name}`, patch);
    },
    async remove(path, name) {
      await unlessMissing(call('DELETE', `${path}/${name}`));
    },
    close: () => client.close(),
  };
}

/** Who the broker is on a control plane. */
const BROKER = { commonName: 'runtime-broker' };

const RULES = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['list'] },
  {
    apiGroups: ['infrastructuremanager.kyma-project.io'],
    resources: ['runtimes'],
    verbs: ['list', 'create', 'delete'],
  },
  {
    apiGroups: ['operator.kyma-project.io'],
    resources: ['kymas'],
    verbs: ['list', 'create', 'delete'],
  },
];

/** A real API server serves a new kind within a second. */
const SERVED_LIMIT_MS = 30_000;

/** @returns the kubeconfig for a broker */
export async function makeControlPlane(cluster: SharedCluster): Promise<string> {
  const eyes = openPlaneEyes(cluster.adminKubeconfig);
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}`;
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: BROKER.commonName };
  const apiGroup = 'rbac.authorization.k8s.io';
  try {
    await eyes.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: NAMESPACE },
    });
    for (const definition of DEFINITIONS) {
      await eyes.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    }
    await eyes.create(`${rbac}/roles`, { apiVersion, kind: 'Role', metadata, rules: RULES });
    await eyes.create(`${rbac}/rolebindings`, {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup, kind: 'Role', name: metadata.name },
      subjects: [{ apiGroup, kind: 'User', name: BROKER.commonName }],
    });
    for (const path of [PATHS.runtimes, PATHS.gardenerClusters, PATHS.kymas]) {
      await until({
        what: `${path} is served`,
        limitMs: SERVED_LIMIT_MS,
        isSo: async () => (await eyes.list(path)).length === 0,
      });
    }
  } finally {
    await eyes.close();
  }
  return await cluster.kubeconfigFor(BROKER);
}
