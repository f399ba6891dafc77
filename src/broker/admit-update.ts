// Whether what a PATCH names can be had, before anybody knows whether it is a change. The plan is that of the instance,
// unless another one is asked for, and an instance's own ids count as in the catalog (C87, C88).
import { OFFERING } from '../domain/built-in-plans.ts';
import { BrokerError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Plan } from '../domain/plan.ts';
import type { ClusterAccess } from '../kubernetes/cluster-access.ts';
import { UNKNOWN_PLAN } from './admit-instance.ts';
import type { Broker } from './broker.ts';

export interface NamedUpdate {
  readonly serviceId: string;
  /** Undefined: the plan stays. */
  readonly planId: string | undefined;
  readonly parameters: JsonObject;
}

export interface UpdateAdmission {
  /** Of the instance that was looked at; undefined where there was none. */
  readonly instanceKey: string | undefined;
  readonly changesPlan: boolean;
  /** As given, without secrets. */
  readonly parameters: JsonObject;
  readonly access: ClusterAccess | undefined;
  /** Why what is given may not become of the instance; of no interest where that is so already. */
  readonly fault: BrokerError | undefined;
}

type AdmittingBroker = Pick<Broker, 'provisioners' | 'parameterRules'>;

/**
 * @param current the instance that has the id now
 * @throws BrokerError `unknown-plan`; `invalid-parameters` for what cannot be read at all
 */
export async function admitUpdate(
  broker: AdmittingBroker,
  request: NamedUpdate,
  current: Instance | undefined,
): Promise<UpdateAdmission> {
  const { serviceId, planId, parameters } = request;
  const ownServiceId = current === undefined ? OFFERING.id : current.serviceId;
  if (serviceId !== ownServiceId) {
    throw new BrokerError(UNKNOWN_PLAN);
  }
  const namesOther = planId !== undefined && planId !== current?.planId;
  const other = namesOther ? offeredPlan(broker, planId) : undefined;
  return current === undefined || other !== undefined
    ? admitNothing(broker, { current, other, parameters })
    : await admitParameters(broker, current, parameters);
}

interface Unadmitted {
  readonly current: Instance | undefined;
  readonly other: Plan | undefined;
  readonly parameters: JsonObject;
}

/** What parameters mean to another plan is not asked any further, since no plan can be changed. */
function admitNothing(
  broker: AdmittingBroker,
  { current, other, parameters }: Unadmitted,
): UpdateAdmission {
  return {
    instanceKey: current?.key,
    changesPlan: other !== undefined,
    parameters: {},
    access: undefined,
    fault: other && ruleFault(broker, other, parameters),
  };
}

async function admitParameters(
  broker: AdmittingBroker,
  current: Instance,
  parameters: JsonObject,
): Promise<UpdateAdmission> {
  const provisioner = broker.provisioners.provisionerOf(current);
  const plan = broker.provisioners.planOf(current);
  const admitted = provisioner.admitChange(parameters);
  const { access } = admitted;
  const fault =
    ruleFault(broker, plan, parameters) ??
    (await faultOf(async () => {
      if (access !== undefined) await provisioner.checkNewAccess?.(access);
    }));
  return { instanceKey: current.key, changesPlan: false, ...admitted, fault };
}

function offeredPlan({ provisioners }: AdmittingBroker, planId: string): Plan {
  const plan = provisioners.offered().find(({ id }) => id === planId);
  if (plan === undefined) {
    throw new BrokerError(UNKNOWN_PLAN);
  }
  return plan;
}

function ruleFault(
  { parameterRules }: AdmittingBroker,
  plan: Plan,
  parameters: JsonObject,
): BrokerError | undefined {
  try {
    parameterRules.checkUpdate(plan, parameters);
    return undefined;
  } catch (error) {
    return refusalIn(error);
  }
}

async function faultOf(check: () => Promise<void>): Promise<BrokerError | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return refusalIn(error);
  }
}

function refusalIn(error: unknown): BrokerError {
  if (error instanceof BrokerError) {
    return error;
  }
  throw error;
}
