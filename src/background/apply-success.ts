// What the success of an operation makes of its instance, in the transaction that ends the operation: deleted, changed,
// without a cluster. Until then the instance was served as it was.
import type { Broker } from '../broker/broker.ts';
import { addMs } from '../domain/clock.ts';
import type { Instance } from '../domain/instance.ts';
import type { Operation } from '../domain/operation.ts';
import { Secret } from '../domain/secret.ts';
import { serializeAccess } from '../kubernetes/cluster-access.ts';
import { bindingEnded, type GrantFacts } from '../observability/events.ts';
import type { OpenTransaction } from '../storage/database.ts';
import { eraseSettledAccess, makeFailedTriesDue } from '../storage/due-grants.ts';
import { endGrant, listUnfinishedGrantIds, readGrantForRevocation } from '../storage/grants.ts';
import { applyChange, detachCluster } from '../storage/instance-changes.ts';
import { accessPlace, findInstanceByKey, markInstanceDeleted } from '../storage/instances.ts';
import { RETRY_TIMEOUT_MS } from './retry-with-new-access.ts';

export interface Success {
  readonly operation: Operation;
  /** That the update has brought, sealed for the instance's own place. */
  readonly sealedAccess: string | undefined;
  readonly at: Date;
}

/** What a new admin access is kept as once the instance has it; undefined where none comes. @throws SealingError */
export async function sealedForInstance(
  { db, clusters, sealer }: Broker,
  { id, type, instanceKey }: Operation,
): Promise<string | undefined> {
  const access = type === 'update' ? await clusters.newAccessOf(db, id) : undefined;
  return access && sealer.seal(new Secret(serializeAccess(access)), accessPlace(instanceKey));
}

/** @returns the grants that have ended with it, for the log once it is committed */
export async function applySuccess(
  broker: Broker,
  tx: OpenTransaction,
  success: Success,
): Promise<readonly GrantFacts[]> {
  const { operation, at, sealedAccess } = success;
  const { type, instanceKey } = operation;
  if (type === 'deprovision') {
    await forgetInstance(tx, instanceKey, at);
    return [];
  }
  await storeChange(tx, success);
  if (sealedAccess !== undefined) {
    // Tried at once by whoever stores this (retry-with-new-access.ts), and by the reconcilers after that.
    await makeFailedTriesDue(tx, { instanceKey, now: addMs(at, RETRY_TIMEOUT_MS) });
  }
  return type === 'suspend' ? await removeCluster(broker, tx, success) : [];
}

/**
 * The admin access stays sealed for as long as a grant is not revoked, or is to be looked at once more: it is what
 * that needs (docs/architecture.md, "What goes on by itself").
 */
async function forgetInstance(tx: OpenTransaction, instanceKey: string, at: Date): Promise<void> {
  await markInstanceDeleted(tx, instanceKey, { at });
  await eraseSettledAccess(tx, { at, instanceKey });
}

async function storeChange(
  tx: OpenTransaction,
  { operation, sealedAccess, at }: Success,
): Promise<void> {
  const { change, instanceKey } = operation;
  if (change === undefined) {
    return;
  }
  const { name, region } = change.parameters;
  await applyChange(tx, instanceKey, {
    ...change,
    name: typeof name === 'string' ? name : undefined,
    region: typeof region === 'string' ? region : undefined,
    sealedAccess,
    at,
  });
}

/**
 * Where a suspension removes the cluster, what was not revoked on it has gone with it. That is stored now and not found
 * out later, since after the resumption another cluster stands there, which knows nothing of it.
 */
async function removeCluster(
  { provisioners }: Broker,
  tx: OpenTransaction,
  { operation, at }: Success,
): Promise<readonly GrantFacts[]> {
  const { instanceKey } = operation;
  const instance = (await findInstanceByKey(tx, instanceKey))?.instance;
  if (
    instance === undefined ||
    provisioners.provisionerOf(instance).suspensionRemovesRuntime !== true
  ) {
    return [];
  }
  await detachCluster(tx, instanceKey, { at });
  return await endByAbsence(tx, instance, at);
}

const PROOF = 'cluster-gone';

async function endByAbsence(
  tx: OpenTransaction,
  { key: instanceKey, id: instanceId }: Instance,
  at: Date,
): Promise<readonly GrantFacts[]> {
  const ended: GrantFacts[] = [];
  for (const grantId of await listUnfinishedGrantIds(tx, { instanceKey })) {
    const grant = await readGrantForRevocation(tx, grantId);
    if (grant !== undefined && (await endGrant(tx, { grantId, at, proof: PROOF, isFinal: true }))) {
      ended.push({ instanceId, bindingId: grant.bindingId, grant: grant.name });
    }
  }
  return ended;
}

export function tellEnded({ log }: Broker, ended: readonly GrantFacts[]): void {
  for (const facts of ended) {
    bindingEnded(log, { ...facts, proof: PROOF });
  }
}
