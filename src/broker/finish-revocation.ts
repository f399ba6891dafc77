// Takes the rights of one grant away on its cluster and records the proof. The order to do so is committed already,
// so this may be run any number of times, by any replica, until it has succeeded once.
import { isBeingWritten } from '../domain/binding.ts';
import { BrokerError, UpstreamError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import { addSeconds } from '../domain/clock.ts';
import { CONCURRENT_OPERATION } from '../domain/refusals.ts';
import type { Secret } from '../domain/secret.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { verifyMarkOf } from '../kubernetes/grant-mark.ts';
import { type Revocation, type RevocationTarget, revokeGrant } from '../kubernetes/revoke-grant.ts';
import {
  bindingEnded,
  foreignObjectLeftAlone,
  type GrantFacts,
  revocationPostponed,
} from '../observability/events.ts';
import {
  endGrant,
  type GrantToRevoke,
  readGrantForRevocation,
  recordRevocationFailure,
  recordUndoFailure,
  tokenPlace,
} from '../storage/grants.ts';
import type { Broker } from './broker.ts';

export interface RevocationOrder {
  readonly instance: Instance;
  readonly grantId: string;
  readonly signal: AbortSignal;
  /**
   * Of the writer that undoes its own issue: it goes to the cluster even if the grant has ended meanwhile, since
   * whoever ended it may have looked before the writer's calls arrived, and needs no access that may be erased by now.
   */
  readonly writersClient?: ClusterClient;
}

/** First delay of the next try; later ones double, up to the longest. The reconciler goes by them. */
const FIRST_DELAY_SECONDS = 5;
const LONGEST_DELAY_SECONDS = 15 * 60;

/**
 * Returns once the grant has ended, also when it had ended before. A failure is recorded with the time of the next
 * try and thrown on: UpstreamError of the cluster, BrokerError `other-cluster`, or SealingError of the access.
 * @throws BrokerError `concurrent-operation` while a writer is at work on it, which will end it itself
 */
export async function finishRevocation(broker: Broker, order: RevocationOrder): Promise<void> {
  const grant = await readGrantForRevocation(broker.db, order.grantId);
  if (grant === undefined) {
    return;
  }
  if (order.writersClient === undefined) {
    if (grant.endedAt !== undefined) {
      return;
    }
    leaveToWriter(grant, broker.clock());
  }
  const facts = { instanceId: order.instance.id, bindingId: grant.bindingId, grant: grant.name };
  let revocation: Revocation;
  try {
    revocation = await revokeOnCluster(broker, order, grant);
  } catch (error) {
    broker.clusters.noticeFailure(order.instance, error);
    await recordFailure(broker, {
      facts,
      grant,
      error,
      isWriter: order.writersClient !== undefined,
    });
    throw error;
  }
  for (const object of revocation.untouched) {
    foreignObjectLeftAlone(broker.log, { ...facts, kind: object.kind, uid: object.uid });
  }
  const { proof } = revocation;
  if (await endGrant(broker.db, { grantId: grant.id, at: broker.clock(), proof })) {
    bindingEnded(broker.log, { ...facts, proof });
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

async function revokeOnCluster(
  broker: Broker,
  { instance, signal, writersClient }: RevocationOrder,
  grant: GrantToRevoke,
): Promise<Revocation> {
  const client = writersClient ?? (await broker.clusters.open(instance, signal));
  const token = openToken(broker, grant);
  const target: RevocationTarget = {
    name: grant.name,
    namespace: grant.namespace,
    ...(grant.uids === undefined ? {} : { uids: grant.uids }),
    ...(token === undefined ? {} : { token }),
  };
  const revocation = await revokeGrant(client, target, {
    // Asked for when it is needed: what is known by its uids is revoked even if the key of the marks is lost.
    isMarked: (object) => verifyMarkOf(broker.marker(), object) !== undefined,
    sleep: broker.sleep,
    signal,
  });
  // What is missing, or refuses the token, proves nothing where another cluster has begun to answer meanwhile.
  await broker.clusters.confirm(client, instance, signal);
  return revocation;
}

/** A token that has expired proves nothing, and one that cannot be opened is still revoked by names and uids. */
function openToken(broker: Broker, grant: GrantToRevoke): Secret | undefined {
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
  const wanted = Math.min(FIRST_DELAY_SECONDS * 2 ** grant.tries, LONGEST_DELAY_SECONDS);
  const asked = error instanceof UpstreamError ? error.retryAfterSeconds : undefined;
  const at = broker.clock();
  const nextTryAt = addSeconds(at, Math.max(wanted, asked ?? 0));
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
