// Workloads and services: the values that Kubernetes fills in and that kubectl counts on when it describes them.

import { type JsonObject, mapAt } from '../api/kube-object.ts';
import type { KindRules } from './kind-rules.ts';

const ROLLING = { type: 'RollingUpdate' };

const DEFAULTS: Readonly<Record<string, JsonObject>> = {
  '/replicationcontrollers': { replicas: 1 },
  '/services': { type: 'ClusterIP', sessionAffinity: 'None' },
  'apps/daemonsets': { updateStrategy: ROLLING, revisionHistoryLimit: 10 },
  'apps/deployments': {
    replicas: 1,
    strategy: { ...ROLLING, rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  },
  'apps/replicasets': { replicas: 1 },
  'apps/statefulsets': {
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    updateStrategy: ROLLING,
    revisionHistoryLimit: 10,
  },
  'autoscaling/horizontalpodautoscalers': { minReplicas: 1 },
  'batch/cronjobs': {
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  },
  'batch/jobs': {
    parallelism: 1,
    completions: 1,
    completionMode: 'NonIndexed',
    backoffLimit: 6,
    suspend: false,
  },
};

/** By storageKey. */
export const WORKLOAD_RULES: Readonly<Record<string, KindRules>> = Object.fromEntries(
  Object.entries(DEFAULTS).map(([key, defaults]): [string, KindRules] => [
    key,
    { complete: (object) => ({ ...object, spec: { ...defaults, ...mapAt(object, 'spec') } }) },
  ]),
);
