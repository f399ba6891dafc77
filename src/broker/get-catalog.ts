// What can be had here: the one offering and the plans whose provisioner runs.
import { OFFERING } from '../domain/built-in-plans.ts';
import type { Plan } from '../domain/plan.ts';
import type { Broker } from './broker.ts';

export interface Catalog {
  readonly offering: typeof OFFERING;
  readonly plans: readonly Plan[];
}

export function getCatalog(broker: Pick<Broker, 'provisioners'>): Catalog {
  return { offering: OFFERING, plans: broker.provisioners.offered() };
}
