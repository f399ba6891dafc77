// Takes the rights of one grant away on its cluster and records the proof. The order to do so is committed already,
// so this may be run any number of times, by any replica, until it has succeeded once. What ended without an outcome
// is looked at once more, since a paused writer's calls may arrive after its end.
import { isBeingWritten } from '../domain/binding.ts';
import { BrokerError, UpstreamError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import { addMs } from '../domain/clock.ts';
import { CONCURRENT_OPERATION } from '../domain/refusals.ts';
import { retryDelayMs } from '../domain/retry-delay.ts';
import type { Secret } from '../domain/secret.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { verifyMarkOf } from '../kubernetes/grant-mark.ts';
import { type Revocation, type RevocationTarget, revokeGrant } from '../kubernetes/revoke-grant.ts';
import {
  bindingEnded,
  foreignObjectLeftAlone,
  type GrantFacts,
  lateObjectsRemoved,
  revocationPostponed,
} from '../observability/events.ts';
import { eraseSettledAccess } from '../storage/due-grants.ts';
import {
  endGrant,
  type GrantToRevoke,
  readGrantForRevocation,
  recordLastLook,
  recordRevocationFailure,
  recordUndoFailure,
  tokenPlace,
} from '../storage/grants.ts';
import type { Broker } from './broker.ts';
import { drawFraction } from './draw-fraction.ts';

export interface RevocationOrder {
  readonly instance: Instance;
  readonly grantId: string;
  readonly signal: AbortSignal;
  /**
   * Of the writer that undoes its own issue: it goes to the cluster even if the grant has ended meanwhile, since
   * whoever ended it may have looked before the writer's calls arrived, and needs no access that may be erased by now.
   */
  readonly writer?: Writer;
}

export interface Writer {
  readonly client: ClusterClient;
  /** As it was announced, for when the row is lost. */
  readonly grant: Pick<GrantToRevoke, 'name' | 'namespace'>;
}

/**
 * Returns once the grant has ended, also when it had ended before. A failure is recorded with the time of the next
 * try and thrown on: UpstreamError of the cluster, BrokerError `other-cluster`, or SealingError of the access.
 * @throws BrokerError `concurrent-operation` while a writer is at work on it, which will end it itself
 */
export async function finishRevocation(broker: Broker, order: RevocationOrder): Promise<void> {
  const grant = await readGrantForRevocation(broker.db, order.grantId);
  if (grant === undefined) {
    await undoWithoutRow(broker, order);
    return;
  }
  if (order.writer === undefined) {
    if (grant.endedAt !== undefined) {
      return;
    }
    leaveToWriter(grant, broker.clock());
  }
  const facts = factsOf(order, grant);
  const { proof, untouched } = await attempt(broker, order, { grant, facts });
  tellUntouched(broker, facts, untouched);
  if (await endGrant(broker.db, { grantId: grant.id, at: broker.clock(), proof })) {
    bindingEnded(broker.log, { ...facts, proof });
  }
  await settleDeletedInstance(broker, order.instance);
}

/** The database failed over to a standby that lags, say: then nobody but the writer knows what it made. */
async function undoWithoutRow(broker: Broker, order: RevocationOrder): Promise<void> {
  const { writer, grantId: id } = order;
  if (writer !== undefined) {
    await revokeOnCluster(broker, order, { id, ...writer.grant });
  }
}

/**
 * Looks at a grant that has ended without an outcome, and removes what arrived after its end. Afterwards nothing is
 * left to do for it. Does nothing where that is so already.
 * @throws as finishRevocation does, and records it likewise
 */
export async function lookOnceMore(broker: Broker, order: RevocationOrder): Promise<void> {
  const grant = await readGrantForRevocation(broker.db, order.grantId);
  if (grant?.endedAt === undefined) {
    return;
  }
  const facts = factsOf(order, grant);
  const { proof, untouched, removedAny } = await attempt(broker, order, { grant, facts });
  tellUntouched(broker, facts, untouched);
  if (removedAny) {
    lateObjectsRemoved(broker.log, { ...facts, proof });
  }
  await recordLastLook(broker.db, grant.id);
  await settleDeletedInstance(broker, order.instance);
}

function factsOf({ instance }: RevocationOrder, grant: GrantToRevoke): GrantFacts {
  return { instanceId: instance.id, bindingId: grant.bindingId, grant: grant.name };
}

function tellUntouched(
  broker: Broker,
  facts: GrantFacts,
  untouched: Revocation['untouched'],
): void {
  for (const { kind, uid } of untouched) {
    foreignObjectLeftAlone(broker.log, { ...facts, kind, uid });
  }
}

/** Once the last grant of a deleted instance is settled, nobody needs its admin access any more. */
async function settleDeletedInstance(broker: Broker, { key, deletedAt }: Instance): Promise<void> {
  if (deletedAt === undefined) {
    return;
  }
  const erased = await eraseSettledAccess(broker.db, { at: broker.clock(), instanceKey: key });
  for (const instanceKey of erased) {
    broker.clusters.forget(instanceKey);
  }
}

/**
 * While a writer is at work its calls may still arrive: who looks now sees nothing, and would end a grant whose objects
 * come a moment later. The writer is fenced, so it undoes what it makes; await-writer.ts waits for that.
 */
function leaveToWriter(grant: GrantToRevoke, now: Date): void {
  if (isBeingWritten(grant, now)) {
    throw new BrokerError(CONCURRENT_OPERATION);
  }
}

/** How it is known that nothing with rights is left. */
interface Ending {
  readonly proof: Revocation['proof'] | 'cluster-gone' | 'cluster-gone-by-operator';
  readonly untouched: Revocation['untouched'];
  /** Of a grant without uids: something with its name and a valid mark was there. */
  readonly removedAny: boolean;
}

interface Attempt {
  readonly grant: GrantToRevoke;
  readonly facts: GrantFacts;
}

/** @throws what fails, once it is recorded with the time of the next try */
async function attempt(
  broker: Broker,
  order: RevocationOrder,
  { grant, facts }: Attempt,
): Promise<Ending> {
  try {
    return await endOnCluster(broker, order, grant);
  } catch (error) {
    broker.clusters.noticeFailure(order.instance, error);
    const isWriter = order.writer !== undefined;
    await recordFailure(broker, { facts, grant, error, isWriter });
    throw error;
  }
}

/** A cluster that is proven gone has taken everything with it; one that is silent has not. */
async function endOnCluster(
  broker: Broker,
  order: RevocationOrder,
  grant: GrantToRevoke,
): Promise<Ending> {
  const byAbsence = { untouched: [], removedAny: false };
  if (order.instance.clusterGoneAt !== undefined) {
    return { proof: 'cluster-gone-by-operator', ...byAbsence };
  }
  try {
    return await revokeOnCluster(broker, order, grant);
  } catch (error) {
    if (await isGone(broker, order, error)) {
      return { proof: 'cluster-gone', ...byAbsence };
    }
    throw error;
  }
}

/** Asked only after a failure: a cluster that answers is there. Who cannot be asked has not said that it is gone. */
async function isGone(
  broker: Broker,
  { instance, signal }: RevocationOrder,
  failure: unknown,
): Promise<boolean> {
  if (signal.aborted || (failure instanceof UpstreamError && failure.system === 'database')) {
    return false;
  }
  try {
    const provisioner = broker.provisioners.provisionerOf(instance);
    const runtime = broker.clusters.runtimeOf(instance);
    return (await provisioner.clusterIsGone?.(runtime, signal)) ?? false;
  } catch (err) {
    broker.log.warn({ err, instanceId: instance.id }, 'nobody could say whether a cluster is gone');
    return false;
  }
}

/** What of it is known there: where the row is lost, its name alone. */
type GrantOnCluster = Pick<GrantToRevoke, 'id' | 'name' | 'namespace'> &
  Partial<Pick<GrantToRevoke, 'uids' | 'sealedToken' | 'expiresAt'>>;

async function revokeOnCluster(
  broker: Broker,
  { instance, signal, writer }: RevocationOrder,
  grant: GrantOnCluster,
): Promise<Ending> {
  const client = writer?.client ?? (await broker.clusters.open(instance, signal));
  const token = openToken(broker, grant);
  const target: RevocationTarget = {
    name: grant.name,
    namespace: grant.namespace,
    ...(grant.uids === undefined ? {} : { uids: grant.uids }),
    ...(token === undefined ? {} : { token }),
  };
  let removedAny = false;
  const { proof, untouched } = await revokeGrant(client, target, {
    isMarked: (object) => {
      // Asked for when it is needed: what is known by its uids is revoked even if the key of the marks is lost.
      const isOurs = verifyMarkOf(broker.marker(), object) !== undefined;
      removedAny ||= isOurs;
      return isOurs;
    },
    sleep: broker.sleep,
    signal,
  });
  // What is missing, or refuses the token, proves nothing where another cluster has begun to answer meanwhile.
  await broker.clusters.confirm(client, instance, signal);
  return { proof, untouched, removedAny };
}

/** A token that has expired proves nothing, and one that cannot be opened is still revoked by names and uids. */
function openToken(broker: Broker, grant: GrantOnCluster): Secret | undefined {
  if (
    grant.sealedToken === undefined ||
    grant.expiresAt === undefined ||
    grant.expiresAt <= broker.clock()
  ) {
    return undefined;
  }
  try {
    return broker.sealer.open(grant.sealedToken, tokenPlace(grant.id));
  } catch (error) {
    broker.log.error(
      { err: error, grant: grant.name },
      'a token cannot be opened; it is revoked unasked',
    );
    return undefined;
  }
}

interface RevocationFault {
  readonly facts: GrantFacts;
  readonly grant: GrantToRevoke;
  readonly error: unknown;
  readonly isWriter: boolean;
}

async function recordFailure(
  broker: Broker,
  { facts, grant, error, isWriter }: RevocationFault,
): Promise<void> {
  const delayMs = retryDelayMs({
    count: grant.tries + 1,
    draw: drawFraction(broker.draw),
    retryAfterSeconds: error instanceof UpstreamError ? error.retryAfterSeconds : undefined,
  });
  const at = broker.clock();
  const nextTryAt = addMs(at, delayMs);
  const cause = causeOf(error);
  // Said before it is stored, so that a database that fails now does not hide what the cluster did.
  revocationPostponed(broker.log, { ...facts, cause, tries: grant.tries + 1, nextTryAt });
  const failure = { grantId: grant.id, error: cause, nextTryAt };
  await (isWriter
    ? recordUndoFailure(broker.db, { ...failure, at })
    : recordRevocationFailure(broker.db, failure));
}

/** A word or two for operators; no text of the cluster's, which could carry anything. */
function causeOf(error: unknown): string {
  if (error instanceof UpstreamError) {
    return `${error.system}: ${error.reason}: ${error.action}`;
  }
  if (error instanceof BrokerError) {
    return error.code;
  }
  return error instanceof Error ? error.name : 'unknown';
}
