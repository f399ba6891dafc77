// The roles and bindings that Kubernetes makes itself, as far as people use them: copied from what kube-apiserver 1.36
// makes, without the resources that no sandbox cluster has.

import type { JsonObject, KubeObject } from '../api/kube-object.ts';
import { AUTHENTICATED, MASTERS } from '../api/user.ts';
import { RBAC_GROUP } from './rbac-resources.ts';

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const ALL = [...WRITE, ...READ].toSorted();

const TO_ADMIN = `${RBAC_GROUP}/aggregate-to-admin`;
const TO_EDIT = `${RBAC_GROUP}/aggregate-to-edit`;
const TO_VIEW = `${RBAC_GROUP}/aggregate-to-view`;

const PUBLIC_PATHS = ['/healthz', '/livez', '/readyz', '/version', '/version/'];

interface Described {
  readonly rules?: readonly JsonObject[];
  /** The label by which another role collects this one. */
  readonly collectedBy?: string;
  /** The label of the roles that this one collects. */
  readonly collects?: string;
}

/** Without what every object is given. */
export type BareObject = Pick<KubeObject, 'kind'> & {
  readonly name: string;
  readonly rest: JsonObject;
  readonly labels: Readonly<Record<string, string>>;
};

export function bootstrapObjects(): readonly BareObject[] {
  return [
    ...Object.entries(ROLES).map(([name, role]) => roleOf(name, role)),
    ...BINDINGS.map(bindingOf),
  ];
}

const BOOTSTRAPPING = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };

function roleOf(name: string, { rules, collectedBy, collects }: Described): BareObject {
  return {
    kind: 'ClusterRole',
    name,
    labels: { ...BOOTSTRAPPING, ...(collectedBy === undefined ? {} : { [collectedBy]: 'true' }) },
    rest: {
      ...(rules === undefined ? {} : { rules }),
      ...(collects === undefined
        ? {}
        : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [collects]: 'true' } }] } }),
    },
  };
}

function bindingOf([role, ...groups]: readonly [string, ...string[]]): BareObject {
  return {
    kind: 'ClusterRoleBinding',
    name: role,
    labels: BOOTSTRAPPING,
    rest: {
      roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: role },
      subjects: groups.map((name) => ({ apiGroup: RBAC_GROUP, kind: 'Group', name })),
    },
  };
}

function on(group: string, resources: readonly string[], verbs: readonly string[]): JsonObject {
  return { apiGroups: [group], resources, verbs };
}

function onPaths(nonResourceURLs: readonly string[]): JsonObject {
  return { nonResourceURLs, verbs: ['get'] };
}

const WORKLOADS = ['daemonsets', 'deployments', 'replicasets', 'statefulsets'];
const CONTENT = ['configmaps', 'persistentvolumeclaims', 'replicationcontrollers', 'services'];

const ROLES: Readonly<Record<string, Described>> = {
  'cluster-admin': { rules: [on('*', ['*'], ['*']), { nonResourceURLs: ['*'], verbs: ['*'] }] },
  admin: { collects: TO_ADMIN },
  edit: { collects: TO_EDIT, collectedBy: TO_ADMIN },
  view: { collects: TO_VIEW, collectedBy: TO_EDIT },
  'system:aggregate-to-admin': {
    collectedBy: TO_ADMIN,
    rules: [
      on('authorization.k8s.io', ['localsubjectaccessreviews'], ['create']),
      on(RBAC_GROUP, ['rolebindings', 'roles'], ALL),
    ],
  },
  'system:aggregate-to-edit': {
    collectedBy: TO_EDIT,
    rules: [
      on('', ['secrets'], READ),
      on('', ['serviceaccounts'], ['impersonate']),
      on('', [...CONTENT, 'pods', 'secrets', 'serviceaccounts'], WRITE),
      on('', ['serviceaccounts/token'], ['create']),
      on('', ['events'], WRITE),
      on('apps', WORKLOADS, WRITE),
      on('autoscaling', ['horizontalpodautoscalers'], WRITE),
      on('batch', ['cronjobs', 'jobs'], WRITE),
      on('policy', ['poddisruptionbudgets'], WRITE),
      on('networking.k8s.io', ['ingresses', 'networkpolicies'], WRITE),
      on('coordination.k8s.io', ['leases'], ALL),
    ],
  },
  'system:aggregate-to-view': {
    collectedBy: TO_VIEW,
    rules: [
      on('', [...CONTENT, 'endpoints', 'pods', 'serviceaccounts'], READ),
      on('', ['limitranges', 'namespaces/status', 'pods/status', 'resourcequotas'], READ),
      on('', ['namespaces'], READ),
      on('', ['events'], READ),
      on('apps', [...WORKLOADS, ...WORKLOADS.map((resource) => `${resource}/status`)], READ),
      on('autoscaling', ['horizontalpodautoscalers', 'horizontalpodautoscalers/status'], READ),
      on('batch', ['cronjobs', 'cronjobs/status', 'jobs', 'jobs/status'], READ),
      on('policy', ['poddisruptionbudgets', 'poddisruptionbudgets/status'], READ),
      on('networking.k8s.io', ['ingresses', 'ingresses/status', 'networkpolicies'], READ),
    ],
  },
  'system:basic-user': {
    rules: [
      on(
        'authorization.k8s.io',
        ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
        ['create'],
      ),
      on('authentication.k8s.io', ['selfsubjectreviews'], ['create']),
    ],
  },
  'system:discovery': {
    rules: [
      onPaths(['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*', ...PUBLIC_PATHS]),
    ],
  },
  'system:public-info-viewer': { rules: [onPaths(PUBLIC_PATHS)] },
};

const BINDINGS: readonly (readonly [string, ...string[]])[] = [
  ['cluster-admin', MASTERS],
  ['system:basic-user', AUTHENTICATED],
  ['system:discovery', AUTHENTICATED],
  ['system:public-info-viewer', AUTHENTICATED, 'system:unauthenticated'],
];
