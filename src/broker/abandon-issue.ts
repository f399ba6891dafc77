// Undoes an issue that failed. First one committed, guarded write says so, which fences its writer, frees the slot and
// makes the reconciler responsible; only then is the cluster touched. If the undo fails, the grant stays as it is.
import type { Instance } from '../domain/instance.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { bindingEnded } from '../observability/events.ts';
import { inTransaction } from '../storage/database.ts';
import { endGrant, markUndoing } from '../storage/grants.ts';
import type { Broker } from './broker.ts';
import type { AnnouncedGrant } from './decide-binding.ts';
import { finishRevocation } from './finish-revocation.ts';

export interface AbandonedIssue {
  readonly instance: Instance;
  readonly bindingId: string;
  readonly grant: Pick<AnnouncedGrant, 'id' | 'name' | 'namespace'>;
  /** The client that was to make it; undefined when none was opened, so that no call can have made anything. */
  readonly client: ClusterClient | undefined;
}

export interface Abandonment {
  /** Nothing of the issue is left. */
  readonly undone: boolean;
  /** Somebody else had ordered the grant to end before we did; whatever failed then, this is why the issue ends. */
  readonly overtaken: boolean;
}

/**
 * Never throws what the undo meets: it is recorded in the row, and the caller has a failure of its own to tell.
 * @throws UpstreamError of the database when the order to undo cannot be committed; nothing was touched then
 */
export async function abandonIssue(broker: Broker, issue: AbandonedIssue): Promise<Abandonment> {
  const { client } = issue;
  if (client === undefined) {
    return { undone: true, overtaken: !(await endUnmade(broker, issue)) };
  }
  const order = { grantId: issue.grant.id, at: broker.clock() };
  const overtaken = !(await markUndoing(broker.db, order));
  return { undone: await undo(broker, { ...issue, client }), overtaken };
}

async function undo(
  broker: Broker,
  { instance, grant, client }: AbandonedIssue & { readonly client: ClusterClient },
): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(broker.limits.undoTimeoutMs);
    const writer = { client, grant };
    await finishRevocation(broker, { instance, grantId: grant.id, signal, writer });
    return true;
  } catch (error) {
    broker.log.warn({ err: error, grant: grant.name }, 'a failed issue could not be undone yet');
    return false;
  }
}

/**
 * No call that makes anything was sent, so there is nothing to ask a cluster about.
 * @returns false when somebody else had ordered its end before
 */
async function endUnmade(
  broker: Broker,
  { instance, bindingId, grant }: AbandonedIssue,
): Promise<boolean> {
  const at = broker.clock();
  const proof = 'nothing-made';
  const ordered = await inTransaction(broker.db, async (tx) => {
    const isFirst = await markUndoing(tx, { grantId: grant.id, at });
    await endGrant(tx, { grantId: grant.id, at, proof, isFinal: true });
    return isFirst;
  });
  bindingEnded(broker.log, { instanceId: instance.id, bindingId, grant: grant.name, proof });
  return ordered;
}
