// Which steps an operation consists of. Those of the provisioner make and remove the runtime; what the ledger has to
// do before a runtime goes is ours.
import type { Broker } from '../broker/broker.ts';
import type { Instance } from '../domain/instance.ts';
import type { Operation } from '../domain/operation.ts';
import type { Step } from '../provisioners/provisioner.ts';
import { revokeBindings } from './revoke-bindings.ts';

/** @throws Error when the instance's provisioner does not run here */
export function stepsOfOperation(
  broker: Broker,
  instance: Instance,
  type: Operation['type'],
): readonly Step[] {
  switch (type) {
    case 'provision':
      return provisionSteps(broker, instance);
    case 'deprovision': {
      const provisioner = broker.provisioners.provisionerOf(instance);
      return [revokeBindings(broker), ...provisioner.deprovision];
    }
    case 'update':
    case 'suspend':
    case 'resume':
      throw new Error(`nothing accepts an operation of type ${type} yet`);
  }
}

/** What was made is undone without the plan, too. */
function provisionSteps({ provisioners }: Broker, instance: Instance): readonly Step[] {
  const plan = provisioners.plan(instance.planId);
  const { provision } = provisioners.provisionerOf(instance);
  return provision.map(({ run, ...step }) => ({
    ...step,
    run: async (context) => {
      if (plan === undefined) {
        throw new Error(`plan ${instance.planId} is not configured here`);
      }
      return await run({ ...context, plan });
    },
  }));
}
