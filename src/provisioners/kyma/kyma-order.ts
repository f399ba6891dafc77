// What is to be made for one instance on the control plane, and the names that it goes by there. Names, labels and
// their order are facts of the systems around us: the infrastructure manager parks a Runtime that lacks a label.
import { createHash } from 'node:crypto';
import type { Instance } from '../../domain/instance.ts';
import type { KymaInstallation } from '../../domain/kyma-installation.ts';
import type { KymaSettings } from '../../domain/kyma-settings.ts';
import type { Plan } from '../../domain/plan.ts';

export interface KymaOrder {
  readonly instance: Instance;
  readonly runtimeId: string;
  readonly plan: Plan;
  readonly settings: KymaSettings;
  readonly installation: KymaInstallation;
}

/** Where all of it lies on a control plane. */
export const CONTROL_PLANE_NAMESPACE = 'kcp-system';

/** Of the Runtime and of the Kyma resource. */
export function nameOfRuntime(runtimeId: string): string {
  return runtimeId.toLowerCase();
}

/** Of the Secret in which the infrastructure manager keeps the runtime's admin kubeconfig. */
export function kubeconfigSecretName(runtimeId: string): string {
  return `kubeconfig-${runtimeId}`;
}

/** Gardener allows 21 characters for the names of project and Shoot together. */
const SHOOT_NAME_DIGITS = 7;

/** Follows from the runtime id, so that a repeat gives the same one. */
export function shootName(runtimeId: string): string {
  const digits = BigInt(`0x${sha256(runtimeId)}`).toString(36);
  return `c-${digits.slice(0, SHOOT_NAME_DIGITS)}`;
}

/** Carries our own key of the instance; what lacks it was not made by us for this instance. */
export const INSTANCE_KEY_ANNOTATION = 'runtime-broker/instance-key';

/** An OSB id may be a text that no label can hold; here it is whole. */
const INSTANCE_ID_ANNOTATION = 'runtime-broker/instance-id';

export const INSTANCE_ID_LABEL = 'kyma-project.io/instance-id';

export function labelsOf(order: KymaOrder): Readonly<Record<string, string>> {
  const { instance, runtimeId, plan, settings } = order;
  const { globalAccountId, subaccountId } = instance.accounts;
  return {
    [INSTANCE_ID_LABEL]: labelValue(instance.id),
    'kyma-project.io/runtime-id': labelValue(runtimeId),
    'kyma-project.io/broker-plan-id': labelValue(plan.id),
    'kyma-project.io/broker-plan-name': labelValue(plan.name),
    'kyma-project.io/global-account-id': labelValue(globalAccountId),
    'kyma-project.io/subaccount-id': labelValue(subaccountId),
    'kyma-project.io/region': labelValue(settings.region),
    'kyma-project.io/platform-region': labelValue(instance.platformRegion),
    'kyma-project.io/provider': settings.provider,
    'kyma-project.io/shoot-name': shootName(runtimeId),
    'operator.kyma-project.io/kyma-name': nameOfRuntime(runtimeId),
  };
}

export function annotationsOf({ instance }: KymaOrder): Readonly<Record<string, string>> {
  return { [INSTANCE_KEY_ANNOTATION]: instance.key, [INSTANCE_ID_ANNOTATION]: instance.id };
}

const LABEL_VALUE = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** Stands where a platform has said nothing: an empty label counts as a missing one. */
const UNSAID = 'none';

/** 128 bits: no two texts that anybody can find share them. */
const HASH_HEX_DIGITS = 32;

/** The text where a label can hold it, else a hash of it. */
export function labelValue(text: string | undefined): string {
  if (text === undefined || text === '') return UNSAID;
  return LABEL_VALUE.test(text) ? text : `sha256-${sha256(text).slice(0, HASH_HEX_DIGITS)}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
