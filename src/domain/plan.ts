// A plan: what one kind of runtime is called, who makes it, and the rules of its bindings.
import type { JsonObject } from './json.ts';

export const PROVISIONER_NAMES = ['kyma', 'own-cluster', 'sandbox'] as const;

export type ProvisionerName = (typeof PROVISIONER_NAMES)[number];

export interface BindingRules {
  /** Lifetime of a credential when the request names none. */
  readonly defaultSeconds: number;
  readonly minSeconds: number;
  readonly maxSeconds: number;
  /** How many grants of one instance may take a slot at once. */
  readonly maxLive: number;
}

/**
 * JSON schemas (draft-04) of the `parameters` of requests, as published in the catalog and enforced. That of binding
 * follows from the rules.
 */
export interface PlanSchemas {
  readonly create: JsonObject;
  /** Of the parameters that a PATCH gives; what it does not give stays. */
  readonly update: JsonObject;
}

export interface Plan {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly displayName: string;
  readonly enabled: boolean;
  readonly free: boolean;
  readonly bindable: boolean;
  readonly provisioner: ProvisionerName;
  /** Where the ServiceAccounts of its grants live on the target cluster. */
  readonly namespace: string;
  /** How long a platform should poll an operation; longer than our slowest one (OSB 2.17, Catalog). */
  readonly maximumPollingSeconds: number;
  readonly binding: BindingRules;
  readonly schemas: PlanSchemas;
}
