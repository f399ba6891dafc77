// Whether what a request to create an instance names can be had, and what it is made of. The ids must be in the catalog,
// except those that the addressed instance already has: a plan that leaves must not strand it (C50).
import { OFFERING } from '../domain/built-in-plans.ts';
import { BrokerError, type Refusal } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Plan } from '../domain/plan.ts';
import type { AdmittedParameters, Provisioner } from '../provisioners/provisioner.ts';
import type { Broker } from './broker.ts';

export interface NamedInstance {
  readonly serviceId: string;
  readonly planId: string;
  readonly parameters: JsonObject;
  readonly maintenanceVersion: string | undefined;
}

export interface Admission {
  readonly provisioner: Provisioner;
  /** Undefined when the plan of the addressed instance has left the configuration: then nothing new is made of it. */
  readonly plan: Plan | undefined;
  readonly admitted: AdmittedParameters;
}

export const UNKNOWN_PLAN: Refusal = {
  code: 'unknown-plan',
  description: 'service_id and plan_id must name a service and one of its plans from the catalog.',
};

/** No plan of ours announces maintenance, so any version named here is one the platform made up (C67). */
export const MAINTENANCE_CONFLICT: Refusal = {
  code: 'maintenance-info-conflict',
  description: 'The plan has no maintenance_info, so no version of it can be asked for.',
};

/**
 * @param current the instance that has the id now
 * @throws BrokerError `unknown-plan`, `invalid-parameters`, `maintenance-info-conflict`
 */
export function admitInstance(
  broker: Pick<Broker, 'provisioners'>,
  request: NamedInstance,
  current: Instance | undefined,
): Admission {
  const { provisioners } = broker;
  const plan = provisioners.plan(request.planId);
  const named = hasTheseIds(current, request) ? current : offered(broker, request);
  const provisioner = provisioners.provisionerOf(named);
  const admitted = provisioner.admit(request.parameters);
  if (request.maintenanceVersion !== undefined) {
    throw new BrokerError(MAINTENANCE_CONFLICT);
  }
  return { provisioner, plan, admitted };
}

function hasTheseIds(current: Instance | undefined, request: NamedInstance): current is Instance {
  return current?.planId === request.planId && current.serviceId === request.serviceId;
}

function offered({ provisioners }: Pick<Broker, 'provisioners'>, request: NamedInstance): Plan {
  const plan = provisioners.offered().find(({ id }) => id === request.planId);
  if (plan === undefined || request.serviceId !== OFFERING.id) {
    throw new BrokerError(UNKNOWN_PLAN);
  }
  return plan;
}
