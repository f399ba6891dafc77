// Which steps an operation consists of. Those of the provisioner make and remove the runtime; what the ledger has to
// do before a runtime goes is ours.
import type { Broker } from '../broker/broker.ts';
import type { Instance } from '../domain/instance.ts';
import type { Operation } from '../domain/operation.ts';
import type { Plan } from '../domain/plan.ts';
import type { ProvisionContext, Step, UpdateContext } from '../provisioners/provisioner.ts';
import { revokeBindings } from './revoke-bindings.ts';

/** @throws Error when the instance's plan or provisioner is needed and not configured here */
export function stepsOfOperation(
  broker: Broker,
  instance: Instance,
  type: Operation['type'],
): readonly Step[] {
  const provisioner = broker.provisioners.provisionerOf(instance);
  switch (type) {
    case 'provision':
      return byPlan(provisioner.provision, () => planToMake(broker, instance));
    case 'update':
      return updateSteps(broker, provisioner.update, broker.provisioners.planOf(instance));
    case 'deprovision':
      return [revokeBindings(broker), ...provisioner.deprovision];
    case 'suspend':
      return [revokeBindings(broker), ...provisioner.suspend];
    case 'resume':
      return byPlan(provisioner.resume, () => broker.provisioners.planOf(instance));
  }
}

function planToMake({ provisioners }: Broker, instance: Instance): Plan {
  const plan = provisioners.plan(instance.planId);
  if (plan === undefined) {
    throw new Error(`plan ${instance.planId} is not configured here`);
  }
  return plan;
}

/** What was made is undone without the plan, too, so it is asked for when it is needed. */
function byPlan(steps: readonly Step<ProvisionContext>[], planOf: () => Plan): readonly Step[] {
  return steps.map(({ run, ...step }) => ({
    ...step,
    run: async (context) => await run({ ...context, plan: planOf() }),
  }));
}

/** What is asked of no system is still one step, since what it changes is stored with the end of the last one. */
const NOTHING_TO_ASK: Step = {
  name: 'nothing-to-ask',
  run: () => Promise.resolve({ outcome: 'done' }),
};

function updateSteps(
  { clusters, db }: Broker,
  steps: readonly Step<UpdateContext>[],
  plan: Plan,
): readonly Step[] {
  if (steps.length === 0) {
    return [NOTHING_TO_ASK];
  }
  return steps.map(({ run, ...step }) => ({
    ...step,
    run: (context) => {
      const newAccess = () => clusters.newAccessOf(db, context.operation.id);
      return run({ ...context, plan, newAccess });
    },
  }));
}
