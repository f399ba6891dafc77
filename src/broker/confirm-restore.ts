// An operator says that an older database was restored, and that what it does not know on an instance's cluster is to
// be removed. From the confirmation on the sweep for orphans settles it; what is issued later is not touched by it.
import { BrokerError } from '../domain/errors.ts';
import { INSTANCE_NOT_FOUND } from '../domain/refusals.ts';
import { restoreConfirmed } from '../observability/events.ts';
import { inTransaction } from '../storage/database.ts';
import { insertEvent } from '../storage/events.ts';
import { findInstance } from '../storage/instances.ts';
import { scanAtOnce } from '../storage/orphans.ts';
import { confirmRestoreOf } from '../storage/restores.ts';
import type { Broker } from './broker.ts';

export interface RestoreConfirmation {
  /** Any instance that has the cluster attached. */
  readonly instanceId: string;
  /** Who confirms it. */
  readonly actor: string;
  readonly reason: string;
}

export interface ConfirmedRestore {
  /** False where none is suspected for the instance's cluster; nothing was written then. */
  readonly confirmed: boolean;
}

/** @throws BrokerError `instance-not-found` */
export async function confirmRestore(
  broker: Broker,
  { instanceId, actor, reason }: RestoreConfirmation,
): Promise<ConfirmedRestore> {
  const found = await findInstance(broker.db, instanceId);
  if (found === undefined) {
    throw new BrokerError(INSTANCE_NOT_FOUND);
  }
  const { key, cluster } = found.instance;
  if (cluster === undefined) {
    return { confirmed: false };
  }
  const at = broker.clock();
  const confirmed = await inTransaction(broker.db, async (tx) => {
    if (!(await confirmRestoreOf(tx, { clusterUid: cluster.uid, at }))) {
      return false;
    }
    const event = { at, type: 'restore-confirmed', actor, reason, instanceKey: key, instanceId };
    await insertEvent(tx, event);
    await scanAtOnce(tx, { clusterUid: cluster.uid, at });
    return true;
  });
  if (confirmed) {
    restoreConfirmed(broker.log, { clusterUid: cluster.uid, instanceId, actor, reason });
  }
  return { confirmed };
}
