// What can be had here: the one offering and the plans whose provisioner runs.
import { OFFERING } from '../domain/built-in-plans.ts';
import type { Plan } from '../domain/plan.ts';
import { mustAnswer } from '../storage/must-answer.ts';
import type { Broker } from './broker.ts';

export interface Catalog {
  readonly offering: typeof OFFERING;
  readonly plans: readonly Plan[];
}

/** @throws UpstreamError while the database is away: then nothing that is offered could be had */
export async function getCatalog(broker: Pick<Broker, 'db' | 'provisioners'>): Promise<Catalog> {
  await mustAnswer(broker.db);
  return { offering: OFFERING, plans: broker.provisioners.offered() };
}
