// Which steps an operation consists of. Those of the provisioner make and remove the runtime; what the ledger has to
// do before a runtime goes is ours.
import type { Broker } from '../broker/broker.ts';
import type { Operation } from '../domain/operation.ts';
import type { Provisioner, Step } from '../provisioners/provisioner.ts';
import { revokeBindings } from './revoke-bindings.ts';

export function stepsOfOperation(
  broker: Broker,
  provisioner: Provisioner,
  type: Operation['type'],
): readonly Step[] {
  switch (type) {
    case 'provision':
      return provisioner.provision;
    case 'deprovision':
      return [revokeBindings(broker), ...provisioner.deprovision];
    case 'update':
    case 'suspend':
    case 'resume':
      throw new Error(`nothing accepts an operation of type ${type} yet`);
  }
}
