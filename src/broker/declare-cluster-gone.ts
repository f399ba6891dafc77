// An operator says that the cluster of an instance does not exist any more, which nobody else could prove: what is left
// to be revoked on it ends as done by absence. It is never taken back; the instance can be deleted and nothing else.
import { BrokerError, UpstreamError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import { CLUSTER_ANSWERS, INSTANCE_NOT_FOUND, NO_CLUSTER_ATTACHED } from '../domain/refusals.ts';
import { clusterDeclaredGone } from '../observability/events.ts';
import { endBindingsOfInstance } from '../storage/bindings.ts';
import { inTransaction } from '../storage/database.ts';
import { insertEvent } from '../storage/events.ts';
import { findInstance, lockInstanceByKey, markClusterGone } from '../storage/instances.ts';
import type { Broker } from './broker.ts';
import type { OperatorOrder } from './operator-order.ts';
import { revokeAllInTime } from './revoke-grants.ts';

export interface ClusterDeclaredGone {
  /** Grants that were live until now. */
  readonly ordered: number;
  readonly ended: number;
  /** Their writers are at work; they are ended by the reconciler. */
  readonly left: number;
}

/**
 * Of the record that has the OSB id now, else of the one that was deleted last. A repeat ends what is left.
 * @throws BrokerError `instance-not-found`; `instance-unusable` where no cluster was ever attached; `cluster-answers`
 *   while the cluster answers: ending its grants would leave working credentials behind
 */
export async function declareClusterGone(
  broker: Broker,
  order: OperatorOrder,
): Promise<ClusterDeclaredGone> {
  const { instanceId, actor, reason } = order;
  const found = await findInstance(broker.db, instanceId);
  if (found === undefined) {
    throw new BrokerError(INSTANCE_NOT_FOUND);
  }
  const { instance } = found;
  if (instance.cluster === undefined) {
    throw new BrokerError(NO_CLUSTER_ATTACHED);
  }
  if (instance.clusterGoneAt === undefined) {
    await demandSilence(broker, instance);
  }
  const at = broker.clock();
  const instanceKey = instance.key;
  const ordered = await inTransaction(broker.db, async (tx) => {
    await lockInstanceByKey(tx, instanceKey);
    await markClusterGone(tx, instanceKey, { at });
    const event = { at, type: 'cluster-declared-gone', actor, reason, instanceKey, instanceId };
    await insertEvent(tx, event);
    return await endBindingsOfInstance(tx, { instanceKey, at });
  });
  clusterDeclaredGone(broker.log, { instanceId, ordered, actor, reason });
  broker.clusters.forget(instanceKey);
  const gone: Instance = { ...instance, clusterGoneAt: instance.clusterGoneAt ?? at };
  return { ordered, ...(await revokeAllInTime(broker, gone)) };
}

/** A cluster that is there answers at once, so one that has not within this is taken for silent. */
const ASK_TIMEOUT_MS = 8_000;

/**
 * Whatever keeps the cluster from proving that it is the attached one (silence, a lost key, another cluster), an
 * operator may overrule; that it answers as that one, nobody may.
 */
async function demandSilence(broker: Broker, instance: Instance): Promise<void> {
  // What an open connection has told before proves nothing about now.
  broker.clusters.forget(instance.key);
  try {
    await broker.clusters.open(instance, AbortSignal.timeout(ASK_TIMEOUT_MS));
  } catch (error) {
    if (error instanceof UpstreamError && error.system === 'database') {
      throw error;
    }
    broker.log.info({ err: error, instanceId: instance.id }, 'a cluster does not answer');
    return;
  }
  throw new BrokerError(CLUSTER_ANSWERS);
}
