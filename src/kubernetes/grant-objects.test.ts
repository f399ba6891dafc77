import { describe, expect, it } from 'vitest';

import { accountOf, roleBindingOf, roleOf } from './grant-objects.ts';

const grant = {
  name: 'kyma-binding-a-0123456789',
  namespace: 'kyma-system',
  mark: '1777863721234.abc',
  installation: '0d4b1c1e-5a3f-4c57-8f5c-2a6f2f5b7d11',
  bindingId: 'A/ü',
  instanceId: 'instance 1',
};

const metadata = {
  name: 'kyma-binding-a-0123456789',
  labels: {
    'app.kubernetes.io/managed-by': 'runtime-broker',
    'runtime-broker/installation': '0d4b1c1e-5a3f-4c57-8f5c-2a6f2f5b7d11',
  },
  annotations: {
    'runtime-broker/mark': '1777863721234.abc',
    'runtime-broker/binding-id': 'A/ü',
    'runtime-broker/instance-id': 'instance 1',
  },
};

describe('the objects of a grant', () => {
  it('begin with an account that no pod is given a token of', () => {
    expect(accountOf(grant)).toEqual({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { ...metadata, namespace: 'kyma-system' },
      automountServiceAccountToken: false,
    });
  });

  it('have a role with all rights, on resources and on non-resource URLs', () => {
    expect(roleOf(grant)).toEqual({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata,
      rules: [
        { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
        { nonResourceURLs: ['*'], verbs: ['*'] },
      ],
    });
  });

  it('end with the role binding that gives the role to that account alone', () => {
    expect(roleBindingOf(grant)).toEqual({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'kyma-binding-a-0123456789',
      },
      subjects: [
        { kind: 'ServiceAccount', name: 'kyma-binding-a-0123456789', namespace: 'kyma-system' },
      ],
    });
  });
});
