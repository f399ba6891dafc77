// What the steps of the Kyma provisioner work with.
import type { KymaInstallation } from '../../domain/kyma-installation.ts';
import type { Logger } from '../../observability/logger.ts';
import type { ProvisionContext, Runtime, StepOutcome } from '../provisioner.ts';
import type { ControlPlane } from './control-plane.ts';
import type { KymaOrder } from './kyma-order.ts';
import { kymaSettingsOf } from './plain-settings.ts';

export interface KymaParts {
  readonly controlPlane: ControlPlane;
  readonly installation: KymaInstallation;
  readonly log: Logger;
}

/** @throws Error where the instance has none: it is drawn before its provisioning is accepted */
export function runtimeIdOf({ instance }: Runtime): string {
  if (instance.runtimeId === undefined) throw new Error(`instance ${instance.key} has no runtime`);
  return instance.runtimeId;
}

/** What others make or remove is looked at again after a while. */
export function waiting(
  { installation }: Pick<KymaParts, 'installation'>,
  description: string,
): StepOutcome {
  return { outcome: 'wait', delayMs: installation.pollSeconds * 1000, description };
}

export function orderOf(
  { installation }: KymaParts,
  { runtime, plan }: ProvisionContext,
): KymaOrder {
  const { instance } = runtime;
  const settings = kymaSettingsOf(plan, instance);
  return { instance, runtimeId: runtimeIdOf(runtime), plan, settings, installation };
}
