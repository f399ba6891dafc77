// First step of a deprovisioning and of a suspension: takes the rights of all grants away. A silent cluster holds it for
// two minutes and no longer, since bindings never block deleting an instance; what is left then stays in the ledger
// (docs/api.md, "Delete an instance").
import type { Broker } from '../broker/broker.ts';
import { revokeGrants } from '../broker/revoke-grants.ts';
import { addMs } from '../domain/clock.ts';
import type { Step, StepContext, StepOutcome } from '../provisioners/provisioner.ts';
import { listUnfinishedGrantIds } from '../storage/grants.ts';

const GIVE_UP_AFTER_MS = 2 * 60 * 1000;

/** One pass: a live cluster needs well under a second, and asking with a token takes up to 12 s. */
const PASS_TIMEOUT_MS = 15_000;

/** The last pass before the two minutes are over may be shorter, but not too short for a live cluster. */
const SHORTEST_PASS_MS = 5_000;

/** Short, since often all that is waited for is a writer which undoes its own issue; a silent cluster takes its time anyway. */
const RETRY_DELAY_MS = 2_000;

export function revokeBindings(broker: Broker): Step {
  return { name: 'revoke-bindings', run: (context) => run(broker, context) };
}

async function run(broker: Broker, context: StepContext): Promise<StepOutcome> {
  const { runtime, operation, now, signal } = context;
  const { key: instanceKey, id: instanceId } = runtime.instance;
  const grantIds = await listUnfinishedGrantIds(broker.db, { instanceKey });
  const giveUpAt = addMs(operation.createdAt, GIVE_UP_AFTER_MS);
  const timeout = AbortSignal.timeout(passTimeoutMs(giveUpAt, now));
  const left = await revokeGrants(broker, {
    instance: runtime.instance,
    grantIds,
    signal: AbortSignal.any([signal, timeout]),
  });
  if (left === 0) {
    return { outcome: 'done' };
  }
  // A pass that was cut off by the end of this process has shown nothing.
  if (broker.clock() >= giveUpAt && !signal.aborted) {
    broker.log.error(
      { instanceId, type: operation.type, grants: left },
      'an instance is deleted or suspended while grants of it are not revoked; they stay in the ledger',
    );
    return { outcome: 'done' };
  }
  return {
    outcome: 'wait',
    delayMs: RETRY_DELAY_MS,
    description: `${left} credentials are not revoked yet: the cluster does not answer as it should.`,
  };
}

/** Once the time is over (the broker was down, for example) there is one whole pass, and no more. */
function passTimeoutMs(giveUpAt: Date, now: Date): number {
  const leftMs = giveUpAt.getTime() - now.getTime();
  return leftMs <= 0
    ? PASS_TIMEOUT_MS
    : Math.min(PASS_TIMEOUT_MS, Math.max(leftMs, SHORTEST_PASS_MS));
}
