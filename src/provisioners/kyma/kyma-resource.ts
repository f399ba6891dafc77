// The Kyma resource of an instance: which modules the lifecycle manager installs in its runtime. Pure.
import type { KymaInstallation } from '../../domain/kyma-installation.ts';
import type { KymaModules } from '../../domain/kyma-settings.ts';
import {
  annotationsOf,
  CONTROL_PLANE_NAMESPACE,
  type KymaOrder,
  labelsOf,
  nameOfRuntime,
} from './kyma-order.ts';

export function kymaResource(order: KymaOrder) {
  const { runtimeId, settings, installation } = order;
  return {
    apiVersion: 'operator.kyma-project.io/v1beta2',
    kind: 'Kyma',
    metadata: {
      name: nameOfRuntime(runtimeId),
      namespace: CONTROL_PLANE_NAMESPACE,
      labels: {
        ...labelsOf(order),
        'operator.kyma-project.io/managed-by': 'lifecycle-manager',
      },
      annotations: annotationsOf(order),
    },
    spec: { channel: installation.channel, modules: modulesOf(settings.modules, installation) },
  };
}

function modulesOf(wanted: KymaModules, { modules }: KymaInstallation) {
  return (wanted.kind === 'default' ? modules : wanted.modules).map(({ name, channel }) => ({
    name,
    ...(channel === undefined ? {} : { channel }),
  }));
}
