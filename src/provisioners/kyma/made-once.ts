// Makes and removes the objects of an instance on the control plane, each once: what is there already is found again,
// and what belongs to another instance is left alone.
import { BrokerError } from '../../domain/errors.ts';
import { addMs } from '../../domain/clock.ts';
import type { StepContext, StepOutcome } from '../provisioner.ts';
import { type Collection, isOf } from './control-plane.ts';
import { type KymaParts, runtimeIdOf, waiting } from './kyma-parts.ts';
import { nameOfRuntime } from './kyma-order.ts';

/** @throws BrokerError `instance-conflict` where an object of another instance has the name */
export async function makeOnce(
  parts: KymaParts,
  { runtime, signal }: StepContext,
  { collection, object }: { readonly collection: Collection; readonly object: unknown },
): Promise<StepOutcome> {
  const { controlPlane } = parts;
  const name = nameOfRuntime(runtimeIdOf(runtime));
  let found = await controlPlane.find(collection, name, signal);
  if (found === undefined) {
    const outcome = await controlPlane.create(collection, object, signal);
    if (outcome === 'created') return { outcome: 'done' };
    found = await controlPlane.find(collection, name, signal);
  }
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
    return waiting(parts, 'What is left of an earlier attempt is being removed.');
  }
  if (!isOf(found, runtime.instance)) {
    throw new BrokerError({
      code: 'instance-conflict',
      description:
        'The control plane has a runtime of the same id that belongs to another instance.',
    });
  }
  return { outcome: 'done' };
}

/**
 * A runner whose operation was cancelled may have a call in flight that makes the object. It is stopped after 50 s at the
 * latest; what is not there this long after its cancellation does not come any more.
 */
const LATE_CALL_MS = 60_000;

/** Done once it is known that nothing of the instance's has the name. */
export async function removeOnce(
  parts: KymaParts,
  { runtime, operation, now, signal }: StepContext,
  { collection, description }: { readonly collection: Collection; readonly description: string },
): Promise<StepOutcome> {
  const { instance } = runtime;
  if (instance.runtimeId === undefined) return { outcome: 'done' };
  const name = nameOfRuntime(instance.runtimeId);
  const found = await parts.controlPlane.find(collection, name, signal);
  if (found === undefined) {
    // A cluster is attached by the last step, after which nobody makes anything.
    const isCertain =
      instance.cluster !== undefined || now >= addMs(operation.createdAt, LATE_CALL_MS);
    return isCertain ? { outcome: 'done' } : waiting(parts, description);
  }
  if (!isOf(found, instance)) {
    parts.log.error(
      { instanceId: instance.id, kind: collection.kind, name },
      'an object of another instance has the name of the one to be removed; it is left alone',
    );
    return { outcome: 'done' };
  }
  if (found.metadata.deletionTimestamp === undefined) {
    await parts.controlPlane.remove(collection, found.metadata, signal);
  }
  return waiting(parts, description);
}
