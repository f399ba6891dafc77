// Step: the infrastructure manager says that the runtime is ready, which it does last of all: the kubeconfig and the
// namespace of grants are there by then. Nothing it says before ends the wait but the operation's own deadline.
import { addMs } from '../../domain/clock.ts';
import { BrokerError } from '../../domain/errors.ts';
import type { ProvisionContext, Step, StepContext, StepOutcome } from '../provisioner.ts';
import { RUNTIMES } from './control-plane.ts';
import { type KymaParts, runtimeIdOf, waiting } from './kyma-parts.ts';
import { nameOfRuntime } from './kyma-order.ts';

/** Most runtimes are ready within 20 minutes; who waits longer is told that this is no sign of failure. */
const LONGER_THAN_USUAL_MS = 20 * 60 * 1000;

const LONGER_THAN_USUAL =
  'Operation created. Cluster provisioning takes longer than usual. It takes up to 60 minutes.';

/** `Failed` is what the manager writes between two of its tries as well. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  Pending: 'Operation created. The cluster is being made.',
  Failed: 'Operation created. The cluster is being made; an attempt failed and is repeated.',
  Terminating: 'Operation created. The cluster is being removed by somebody else.',
};

export function waitForRuntime(parts: KymaParts): Step<ProvisionContext> {
  return { name: 'wait-for-runtime', run: (context) => run(parts, context) };
}

async function run(parts: KymaParts, context: StepContext): Promise<StepOutcome> {
  const { runtime, operation, now, signal } = context;
  const name = nameOfRuntime(runtimeIdOf(runtime));
  const found = await parts.controlPlane.find(RUNTIMES, name, signal);
  if (found === undefined) throw refusal('The runtime was removed while it was being made.');
  // Until the manager has seen the resource, it has no state.
  const state = found.status?.state ?? 'Pending';
  if (state === 'Ready' && found.metadata.deletionTimestamp === undefined) {
    return { outcome: 'done' };
  }
  if (DESCRIPTIONS[state] === undefined && state !== 'Ready') {
    parts.log.warn({ instanceId: runtime.instance.id, state }, 'a runtime has an unknown state');
  }
  if (now >= operation.deadline) {
    throw refusal('The cluster was not ready in time; what was made of it is removed.');
  }
  const isLate = now >= addMs(operation.createdAt, LONGER_THAN_USUAL_MS);
  return waiting(parts, isLate ? LONGER_THAN_USUAL : describe(state));
}

function describe(state: string): string {
  return DESCRIPTIONS[state] ?? 'Operation created. The cluster is being made.';
}

function refusal(description: string): BrokerError {
  return new BrokerError({ code: 'instance-unusable', description });
}
