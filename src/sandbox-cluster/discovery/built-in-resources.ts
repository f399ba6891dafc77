// The resources that every cluster has: those of Kubernetes that people, kubectl and platforms ask for. No controller
// acts on workloads here; they are kept and shown, nothing more.

import type { NameForm, Resource } from '../api/resource.ts';

export const OBJECT_VERBS = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
] as const;

interface Traits {
  readonly short?: readonly string[];
  readonly categories?: readonly string[];
  readonly hasStatus?: boolean;
  readonly hasGeneration?: boolean;
  readonly nameForm?: NameForm;
  readonly answersWithDeleted?: boolean;
  readonly createsOnUpdate?: boolean;
  readonly verbs?: readonly string[];
}

type Row = readonly [
  plural: string,
  kind: string,
  scope: 'namespaced' | 'cluster',
  traits?: Traits,
];

function resourcesOf(group: string, version: string, rows: readonly Row[]): readonly Resource[] {
  return rows.map(([plural, kind, scope, traits = {}]) => ({
    group,
    version,
    plural,
    singular: kind.toLowerCase(),
    kind,
    isNamespaced: scope === 'namespaced',
    shortNames: traits.short ?? [],
    categories: traits.categories ?? [],
    verbs: traits.verbs ?? OBJECT_VERBS,
    hasStatus: traits.hasStatus ?? false,
    hasGeneration: traits.hasGeneration ?? false,
    nameForm: traits.nameForm ?? 'subdomain',
    answersWithDeleted: traits.answersWithDeleted ?? false,
    createsOnUpdate: traits.createsOnUpdate ?? false,
    isCustom: false,
  }));
}

const ALL = ['all'];
const WORKLOAD = { categories: ALL, hasStatus: true, hasGeneration: true };
const RBAC: Traits = { nameForm: 'path-segment', createsOnUpdate: true };
const EXTENSION = { categories: ['api-extensions'], hasGeneration: true };

/** Answered at once and kept nowhere. */
const REVIEW: Traits = { verbs: ['create'] };

export const BUILT_IN_RESOURCES: readonly Resource[] = [
  ...resourcesOf('', 'v1', [
    ['configmaps', 'ConfigMap', 'namespaced', { short: ['cm'] }],
    ['endpoints', 'Endpoints', 'namespaced', { short: ['ep'], createsOnUpdate: true }],
    ['events', 'Event', 'namespaced', { short: ['ev'], createsOnUpdate: true }],
    ['limitranges', 'LimitRange', 'namespaced', { short: ['limits'], createsOnUpdate: true }],
    [
      'namespaces',
      'Namespace',
      'cluster',
      {
        short: ['ns'],
        hasStatus: true,
        nameForm: 'label',
        answersWithDeleted: true,
        verbs: OBJECT_VERBS.filter((verb) => verb !== 'deletecollection'),
      },
    ],
    ['nodes', 'Node', 'cluster', { short: ['no'], hasStatus: true }],
    [
      'persistentvolumeclaims',
      'PersistentVolumeClaim',
      'namespaced',
      { short: ['pvc'], hasStatus: true, answersWithDeleted: true },
    ],
    [
      'persistentvolumes',
      'PersistentVolume',
      'cluster',
      { short: ['pv'], hasStatus: true, answersWithDeleted: true },
    ],
    [
      'pods',
      'Pod',
      'namespaced',
      {
        short: ['po'],
        categories: ALL,
        hasStatus: true,
        hasGeneration: true,
        answersWithDeleted: true,
      },
    ],
    [
      'podtemplates',
      'PodTemplate',
      'namespaced',
      { hasGeneration: true, answersWithDeleted: true },
    ],
    [
      'replicationcontrollers',
      'ReplicationController',
      'namespaced',
      { ...WORKLOAD, short: ['rc'] },
    ],
    [
      'resourcequotas',
      'ResourceQuota',
      'namespaced',
      { short: ['quota'], hasStatus: true, answersWithDeleted: true },
    ],
    ['secrets', 'Secret', 'namespaced'],
    [
      'serviceaccounts',
      'ServiceAccount',
      'namespaced',
      { short: ['sa'], answersWithDeleted: true },
    ],
    [
      'services',
      'Service',
      'namespaced',
      {
        short: ['svc'],
        categories: ALL,
        hasStatus: true,
        nameForm: 'label',
        answersWithDeleted: true,
      },
    ],
  ]),
  ...resourcesOf('admissionregistration.k8s.io', 'v1', [
    ['mutatingwebhookconfigurations', 'MutatingWebhookConfiguration', 'cluster', EXTENSION],
    [
      'validatingadmissionpolicies',
      'ValidatingAdmissionPolicy',
      'cluster',
      { ...EXTENSION, hasStatus: true },
    ],
    ['validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding', 'cluster', EXTENSION],
    ['validatingwebhookconfigurations', 'ValidatingWebhookConfiguration', 'cluster', EXTENSION],
  ]),
  ...resourcesOf('apiextensions.k8s.io', 'v1', [
    [
      'customresourcedefinitions',
      'CustomResourceDefinition',
      'cluster',
      { ...EXTENSION, short: ['crd', 'crds'], hasStatus: true, answersWithDeleted: true },
    ],
  ]),
  ...resourcesOf('apps', 'v1', [
    ['daemonsets', 'DaemonSet', 'namespaced', { ...WORKLOAD, short: ['ds'] }],
    ['deployments', 'Deployment', 'namespaced', { ...WORKLOAD, short: ['deploy'] }],
    ['replicasets', 'ReplicaSet', 'namespaced', { ...WORKLOAD, short: ['rs'] }],
    ['statefulsets', 'StatefulSet', 'namespaced', { ...WORKLOAD, short: ['sts'] }],
  ]),
  ...resourcesOf('authentication.k8s.io', 'v1', [
    ['selfsubjectreviews', 'SelfSubjectReview', 'cluster', REVIEW],
    ['tokenreviews', 'TokenReview', 'cluster', REVIEW],
  ]),
  ...resourcesOf('authorization.k8s.io', 'v1', [
    ['localsubjectaccessreviews', 'LocalSubjectAccessReview', 'namespaced', REVIEW],
    ['selfsubjectaccessreviews', 'SelfSubjectAccessReview', 'cluster', REVIEW],
    ['selfsubjectrulesreviews', 'SelfSubjectRulesReview', 'cluster', REVIEW],
    ['subjectaccessreviews', 'SubjectAccessReview', 'cluster', REVIEW],
  ]),
  ...resourcesOf('autoscaling', 'v2', [
    [
      'horizontalpodautoscalers',
      'HorizontalPodAutoscaler',
      'namespaced',
      { ...WORKLOAD, short: ['hpa'] },
    ],
  ]),
  ...resourcesOf('batch', 'v1', [
    ['cronjobs', 'CronJob', 'namespaced', { ...WORKLOAD, short: ['cj'] }],
    ['jobs', 'Job', 'namespaced', WORKLOAD],
  ]),
  ...resourcesOf('coordination.k8s.io', 'v1', [
    ['leases', 'Lease', 'namespaced', { createsOnUpdate: true }],
  ]),
  ...resourcesOf('networking.k8s.io', 'v1', [
    [
      'ingresses',
      'Ingress',
      'namespaced',
      { short: ['ing'], hasStatus: true, hasGeneration: true },
    ],
    ['networkpolicies', 'NetworkPolicy', 'namespaced', { short: ['netpol'], hasGeneration: true }],
  ]),
  ...resourcesOf('policy', 'v1', [
    [
      'poddisruptionbudgets',
      'PodDisruptionBudget',
      'namespaced',
      { short: ['pdb'], hasStatus: true, hasGeneration: true },
    ],
  ]),
  ...resourcesOf('rbac.authorization.k8s.io', 'v1', [
    ['clusterrolebindings', 'ClusterRoleBinding', 'cluster', RBAC],
    ['clusterroles', 'ClusterRole', 'cluster', RBAC],
    ['rolebindings', 'RoleBinding', 'namespaced', RBAC],
    ['roles', 'Role', 'namespaced', RBAC],
  ]),
  ...resourcesOf('storage.k8s.io', 'v1', [
    ['storageclasses', 'StorageClass', 'cluster', { short: ['sc'], answersWithDeleted: true }],
  ]),
];
