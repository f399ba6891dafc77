// Namespaces: they bear their own name as a label, and go only when their content has.

import { type KubeObject, mapAt, textsAt } from '../api/kube-object.ts';
import type { KindRules } from './kind-rules.ts';

/** Without them nothing works; Kubernetes refuses as well. */
export const KEPT_NAMESPACES = ['default', 'kube-public', 'kube-system'];

export const NAMESPACES = '/namespaces';

export const NAMESPACE_RULES: KindRules = {
  begin: (object) => ({
    ...object,
    metadata: {
      ...object.metadata,
      labels: {
        ...object.metadata.labels,
        'kubernetes.io/metadata.name': object.metadata.name,
      },
    },
    // Taken away when nothing is left inside.
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }),
  keptBecause: (name) =>
    KEPT_NAMESPACES.includes(name) ? 'this namespace may not be deleted' : undefined,
  isHeld: (object) => textsAt(mapAt(object, 'spec'), 'finalizers').length > 0,
  whileDeleted: (object) => ({ ...object, status: { phase: 'Terminating' } }),
};

export function isTerminating(namespace: KubeObject): boolean {
  return namespace.metadata.deletionTimestamp !== undefined;
}
