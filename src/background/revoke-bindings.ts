// First step of a deprovisioning: takes the rights of all grants away. A silent cluster holds it for two minutes and
// no longer, since bindings never block deleting an instance; what is left then stays in the ledger (contract 3).
import type { Broker } from '../broker/broker.ts';
import { finishRevocation } from '../broker/finish-revocation.ts';
import type { Instance } from '../domain/instance.ts';
import type { Step, StepContext, StepOutcome } from '../provisioners/provisioner.ts';
import { listUnfinishedGrants } from '../storage/grants.ts';

const GIVE_UP_AFTER_MS = 2 * 60 * 1000;

/** Gentle to the API server, and ten live bindings are done in three rounds. */
const GRANTS_AT_ONCE = 4;

/** One try at one grant: a live cluster needs well under a second, and asking with a token up to 12 s (design 3). */
const TRY_TIMEOUT_MS = 15_000;

const RETRY_DELAY_MS = 5_000;

export function revokeBindings(broker: Broker): Step {
  return { name: 'revoke-bindings', run: (context) => run(broker, context) };
}

async function run(broker: Broker, context: StepContext): Promise<StepOutcome> {
  const { runtime, operation, now } = context;
  const grants = await listUnfinishedGrants(broker.db, { instanceKey: runtime.instance.key });
  const ids = grants.map(({ id }) => id);
  const left = await revokeAll(broker, context, ids);
  if (left === 0) {
    return { outcome: 'done' };
  }
  if (now.getTime() - operation.createdAt.getTime() >= GIVE_UP_AFTER_MS) {
    broker.log.error(
      { instanceId: runtime.instance.id, grants: left },
      'an instance is deleted while grants of it are not revoked; they stay in the ledger',
    );
    return { outcome: 'done' };
  }
  return {
    outcome: 'wait',
    delayMs: RETRY_DELAY_MS,
    description: `${left} credentials are not revoked yet: the cluster does not answer as it should.`,
  };
}

/** @returns how many could not be revoked; why is in their rows */
async function revokeAll(
  broker: Broker,
  { runtime: { instance }, signal }: StepContext,
  grantIds: readonly string[],
): Promise<number> {
  const waiting = [...grantIds];
  let failed = 0;
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      failed += (await revoked(broker, instance, { grantId: next, signal })) ? 0 : 1;
    }
  };
  await Promise.all(Array.from({ length: GRANTS_AT_ONCE }, work));
  return failed;
}

async function revoked(
  broker: Broker,
  instance: Instance,
  { grantId, signal }: { readonly grantId: string; readonly signal: AbortSignal },
): Promise<boolean> {
  try {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(TRY_TIMEOUT_MS)]);
    await finishRevocation(broker, { instance, grantId, signal: bounded });
    return true;
  } catch (error) {
    broker.log.warn({ err: error, grantId }, 'a grant could not be revoked yet');
    return false;
  }
}
