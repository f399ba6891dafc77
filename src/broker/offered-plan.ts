// Membership in the catalog: the ids of a request to create must be there, except those that the addressed instance
// already has, since a plan that leaves the catalog must not strand it (contract 1; osb.md C50).
import { OFFERING } from '../domain/built-in-plans.ts';
import { BrokerError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import type { Plan } from '../domain/plan.ts';
import type { Broker } from './broker.ts';

export interface NamedPlan {
  readonly serviceId: string;
  readonly planId: string;
}

/** @throws BrokerError `unknown-plan` */
export function offeredPlan(
  broker: Pick<Broker, 'provisioners'>,
  named: NamedPlan,
  current: Instance | undefined,
): Plan {
  const plan = broker.provisioners.plan(named.planId);
  const isCurrent =
    current !== undefined &&
    current.deletedAt === undefined &&
    current.planId === named.planId &&
    current.serviceId === named.serviceId;
  const isOffered =
    named.serviceId === OFFERING.id &&
    broker.provisioners.offered().some(({ id }) => id === named.planId);
  if (plan === undefined || !(isCurrent || isOffered)) {
    throw new BrokerError({
      code: 'unknown-plan',
      description:
        'service_id and plan_id must name a service and one of its plans from the catalog.',
    });
  }
  return plan;
}
