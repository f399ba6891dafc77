// Tries at once to end what of a binding was ordered to end and has not ended, because an operator asks for it: also on
// behalf of deleted instances, which no platform can ask for any more.
import { BrokerError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import { BINDING_NOT_FOUND, INSTANCE_NOT_FOUND, NOTHING_TO_RETRY } from '../domain/refusals.ts';
import { revocationRetried } from '../observability/events.ts';
import { inTransaction, type OpenTransaction } from '../storage/database.ts';
import { insertEvent } from '../storage/events.ts';
import { type ListedGrant, listUnfinishedGrants } from '../storage/grant-list.ts';
import { findInstance, findInstanceByKey, lockInstanceByKey } from '../storage/instances.ts';
import { listInstanceKeysOfBinding, orderRetriesOfBinding } from '../storage/retries.ts';
import { answerInTime } from './answer-in-time.ts';
import type { Broker } from './broker.ts';
import { notRevokedYet } from './cluster-refusals.ts';
import type { OperatorOrder } from './operator-order.ts';
import { revokeGrants } from './revoke-grants.ts';

export interface RetryOrder extends OperatorOrder {
  readonly bindingId: string;
}

export interface RetriedRevocation {
  /** Undefined when nothing is left to revoke, else what the try came to. */
  readonly left: ListedGrant | undefined;
}

/** Of the limit: what storing the outcome may take once the cluster's part is over. */
const LAST_WRITE_MS = 1_000;

/** Enough to find one that is left; a binding has one grant, and rarely those of earlier attempts. */
const GRANTS_LOOKED_AT = 100;

/**
 * A repeat tries again. Where all has ended already, nothing is written.
 * @throws BrokerError `instance-not-found`, `binding-not-found`; `nothing-to-retry` while no end was ordered;
 *   `not-revoked-yet` when the try did not come to an end in time: it goes on
 */
export async function retryRevocation(
  broker: Broker,
  order: RetryOrder,
): Promise<RetriedRevocation> {
  const limitMs = broker.limits.deleteTimeoutMs;
  const signal = AbortSignal.timeout(limitMs - LAST_WRITE_MS);
  return await answerInTime(broker, retry(broker, order, signal), {
    limitMs,
    late: () => notRevokedYet(undefined),
  });
}

async function retry(
  broker: Broker,
  order: RetryOrder,
  signal: AbortSignal,
): Promise<RetriedRevocation> {
  const keys = await keysOf(broker, order);
  const ordered = await inTransaction(broker.db, (tx) => orderAll(broker, tx, { order, keys }));
  if (ordered.length === 0) {
    await demandAllEnded(broker, order);
    return { left: undefined };
  }
  for (const { grantName } of ordered) {
    const { instanceId, bindingId, actor, reason } = order;
    revocationRetried(broker.log, { instanceId, bindingId, grant: grantName, actor, reason });
  }
  for (const [instanceKey, grantIds] of Map.groupBy(ordered, (each) => each.instanceKey)) {
    await revokeGrants(broker, {
      instance: await instanceOf(broker, instanceKey),
      grantIds: grantIds.map(({ grantId }) => grantId),
      signal,
      awaitsWriters: true,
    });
  }
  const [left] = (await unfinished(broker, order)).filter(isOrdered);
  return { left };
}

async function keysOf(broker: Broker, order: RetryOrder): Promise<readonly string[]> {
  const keys = await listInstanceKeysOfBinding(broker.db, order);
  if (keys.length === 0) {
    const isKnown = (await findInstance(broker.db, order.instanceId)) !== undefined;
    throw new BrokerError(isKnown ? BINDING_NOT_FOUND : INSTANCE_NOT_FOUND);
  }
  return keys;
}

interface OrderedGrant {
  readonly instanceKey: string;
  readonly grantId: string;
  readonly grantName: string;
}

async function orderAll(
  broker: Broker,
  tx: OpenTransaction,
  { order, keys }: { readonly order: RetryOrder; readonly keys: readonly string[] },
): Promise<readonly OrderedGrant[]> {
  const { instanceId, bindingId, actor, reason } = order;
  const all: OrderedGrant[] = [];
  for (const instanceKey of keys) {
    await lockInstanceByKey(tx, instanceKey);
    const at = broker.clock();
    const ordered = await orderRetriesOfBinding(tx, { instanceKey, bindingId, at });
    for (const { grantId, grantName } of ordered) {
      const what = { instanceKey, instanceId, bindingId, grantName };
      await insertEvent(tx, { at, type: 'revocation-retried', actor, reason, ...what });
      all.push({ instanceKey, grantId, grantName });
    }
  }
  return all;
}

function unfinished(broker: Broker, { instanceId, bindingId }: RetryOrder) {
  const { db, clock } = broker;
  return listUnfinishedGrants(db, { now: clock(), limit: GRANTS_LOOKED_AT, instanceId, bindingId });
}

async function demandAllEnded(broker: Broker, order: RetryOrder): Promise<void> {
  if ((await unfinished(broker, order)).length > 0) {
    throw new BrokerError(NOTHING_TO_RETRY);
  }
}

function isOrdered({ revokingSince }: ListedGrant): boolean {
  return revokingSince !== undefined;
}

async function instanceOf({ db }: Broker, key: string): Promise<Instance> {
  const found = await findInstanceByKey(db, key);
  if (found === undefined) {
    throw new Error(`the instance ${key} of a grant is gone`);
  }
  return found.instance;
}
