// Ends several grants of one instance, a few at a time, as far as that goes before it is told to stop. The order to end
// them is committed already; what could not be ended has the cause in its row, and is tried again by the reconciler.
import type { Instance } from '../domain/instance.ts';
import { listUnfinishedGrantIds } from '../storage/grants.ts';
import { awaitWriter } from './await-writer.ts';
import type { Broker } from './broker.ts';
import { finishRevocation } from './finish-revocation.ts';

/** As many as an instance has slots by default, so that on a silent cluster each one gets its try within one pass. */
const GRANTS_AT_ONCE = 10;

export interface GrantsOrder {
  readonly instance: Instance;
  readonly grantIds: readonly string[];
  readonly signal: AbortSignal;
  /** Whether writers that are at work on them are waited for, who undo their own issues. */
  readonly awaitsWriters?: boolean;
}

/** @returns how many could not be ended */
export async function revokeGrants(broker: Broker, order: GrantsOrder): Promise<number> {
  const waiting = [...order.grantIds];
  let failed = 0;
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (!(await isRevoked(broker, order, next))) {
        failed += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: GRANTS_AT_ONCE }, work));
  return failed;
}

async function isRevoked(
  broker: Broker,
  { instance, signal, awaitsWriters = false }: GrantsOrder,
  grantId: string,
): Promise<boolean> {
  try {
    if (awaitsWriters) {
      await awaitWriter(broker, grantId, signal);
    }
    await finishRevocation(broker, { instance, grantId, signal });
    return true;
  } catch (error) {
    broker.log.warn({ err: error, grantId }, 'a grant could not be revoked yet');
    return false;
  }
}

export interface RevokedInTime {
  /** By whomever: a reconciler may have been at work on some of them. */
  readonly ended: number;
  /** They are tried again. */
  readonly left: number;
}

/** Of the limit: what storing the outcomes may take once the cluster's part is over. */
const LAST_WRITE_MS = 1_000;

/** All unfinished grants of an instance whose end was ordered, within the time of a request. */
export async function revokeAllInTime(broker: Broker, instance: Instance): Promise<RevokedInTime> {
  const { db, limits } = broker;
  const instanceKey = instance.key;
  const grantIds = await listUnfinishedGrantIds(db, { instanceKey });
  const signal = AbortSignal.timeout(limits.deleteTimeoutMs - LAST_WRITE_MS);
  await revokeGrants(broker, { instance, grantIds, signal, awaitsWriters: true });
  const unfinished = new Set(await listUnfinishedGrantIds(db, { instanceKey }));
  const left = grantIds.filter((id) => unfinished.has(id)).length;
  return { ended: grantIds.length - left, left };
}
