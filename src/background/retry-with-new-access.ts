// A new admin access may be what grants that are stuck were waiting for, so they get a try as soon as it is stored. The
// reconcilers of every replica may leave the cluster alone for minutes yet (circuits.ts), for what its old access said.
import type { Broker } from '../broker/broker.ts';
import { revokeGrants } from '../broker/revoke-grants.ts';
import { findInstanceByKey } from '../storage/instances.ts';
import { listStuckGrantIds } from '../storage/retries.ts';

/** A cluster that answers needs well under a second, and asking with a token takes up to 12 s. */
export const RETRY_TIMEOUT_MS = 15_000;

/** Never throws: what could not be ended is tried again by the reconcilers. */
export async function retryWithNewAccess(
  broker: Broker,
  instanceKey: string,
  stopping: AbortSignal,
): Promise<void> {
  try {
    const grantIds = await listStuckGrantIds(broker.db, { instanceKey });
    const found =
      grantIds.length === 0 ? undefined : await findInstanceByKey(broker.db, instanceKey);
    if (found === undefined) {
      return;
    }
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(RETRY_TIMEOUT_MS)]);
    await revokeGrants(broker, { instance: found.instance, grantIds, signal });
  } catch (error) {
    broker.log.warn({ err: error, instanceKey }, 'grants are not tried with the new access yet');
  }
}
