// Keeps an announced grant: makes its objects and the token on the cluster, then stores the outcome in one guarded
// write. Until that write has succeeded nothing is handed out; whatever fails before it is undone.
import { BrokerError, UpstreamError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import { CONCURRENT_OPERATION } from '../domain/refusals.ts';
import { ClusterClockError } from '../kubernetes/cluster-clock.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { makeMark } from '../kubernetes/grant-mark.ts';
import {
  type GrantOrder,
  type IssuedGrant,
  issueGrant,
} from '../kubernetes/token-request-issuer.ts';
import {
  bindingIssued,
  bindingIssueFailed,
  bindingLifetimeShortened,
  clusterClockDiffers,
  type GrantFacts,
  lateWriterFenced,
} from '../observability/events.ts';
import { type GrantOutcome, tokenPlace } from '../storage/grants.ts';
import { abandonIssue } from './abandon-issue.ts';
import type { Broker } from './broker.ts';
import { createLimitPassed, whatToTell } from './cluster-refusals.ts';
import type { AnnouncedGrant, CreateBindingRequest } from './decide-binding.ts';
import { type HandedOutBinding, handOut } from './handed-out-binding.ts';
import { storeOutcome } from './store-outcome.ts';

export interface IssueOrder {
  readonly request: CreateBindingRequest;
  readonly instance: Instance;
  readonly grant: AnnouncedGrant;
  /** Fires at the create limit. */
  readonly signal: AbortSignal;
}

/**
 * @throws BrokerError for what the cluster did, `create-limit-passed`, or `concurrent-operation` when the grant was
 *   ordered to end meanwhile; UpstreamError when the outcome could not be stored
 */
export async function issueBinding(broker: Broker, order: IssueOrder): Promise<HandedOutBinding> {
  const { client, issued } = await makeOrUndo(broker, order);
  const { request, instance, grant } = order;
  await storeOrUndo(broker, order, { client, issued });
  const facts = { instanceId: instance.id, bindingId: request.bindingId, grant: grant.name };
  bindingIssued(broker.log, {
    ...facts,
    createdBy: request.createdBy,
    expiresAt: issued.expiresAt,
    tokenId: issued.tokenId,
    durationMs: broker.clock().getTime() - grant.intendedAt.getTime(),
  });
  tellShortening(broker, facts, { askedSeconds: grant.expirationSeconds, issued });
  return handOut({
    instance,
    binding: { id: request.bindingId, expirationSeconds: request.expirationSeconds },
    issuedAt: issued.issuedAt,
    expiresAt: issued.expiresAt,
    token: issued.token,
  });
}

/** The caller reads it from `expires_at`; operators would else not know why credentials end early. */
function tellShortening(
  broker: Broker,
  facts: GrantFacts,
  { askedSeconds, issued }: { readonly askedSeconds: number; readonly issued: IssuedGrant },
): void {
  const grantedSeconds = (issued.expiresAt.getTime() - issued.issuedAt.getTime()) / 1000;
  if (grantedSeconds < askedSeconds) {
    bindingLifetimeShortened(broker.log, { ...facts, askedSeconds, grantedSeconds });
  }
}

async function storeOrUndo(broker: Broker, order: IssueOrder, made: Made): Promise<void> {
  const { request, instance, grant, signal } = order;
  const { client, issued } = made;
  const outcome: GrantOutcome = {
    grantId: grant.id,
    uids: issued.uids,
    sealedToken: broker.sealer.seal(issued.token, tokenPlace(grant.id)),
    issuedAt: issued.issuedAt,
    expiresAt: issued.expiresAt,
  };
  const stored = await storeOutcome(broker, outcome, signal);
  switch (stored.result) {
    case 'stored':
      return;
    case 'fenced': {
      const bindingId = request.bindingId;
      lateWriterFenced(broker.log, { instanceId: instance.id, bindingId, grant: grant.name });
      await abandonIssue(broker, { instance, bindingId, grant, client });
      throw new BrokerError(CONCURRENT_OPERATION);
    }
    case 'failed':
      throw await giveUp(broker, order, { client, error: stored.error });
    case 'unknown':
      // The cluster is not touched: undoing could leave a live row with a dead credential.
      throw stored.error;
  }
}

interface Made {
  readonly client: ClusterClient;
  readonly issued: IssuedGrant;
}

async function makeOrUndo(broker: Broker, order: IssueOrder): Promise<Made> {
  const { instance, signal } = order;
  let client: ClusterClient | undefined;
  try {
    // Before a client is opened: where it fails nothing was made, and nothing is to be undone.
    const ordered = grantOrder(broker, order);
    const first = await broker.clusters.open(instance, signal);
    client = first;
    const issued = await issueGrant(first, ordered).catch(async (error: unknown) => {
      // Who was let in when the connection was opened may be refused by now. What is refused makes nothing; where
      // something was made all the same, the second issue meets it as a conflict, and all is undone.
      const refused = { refused: first.access, error, signal };
      const renewed = await broker.clusters.openRenewed(instance, refused);
      client = renewed;
      return await issueGrant(renewed, ordered);
    });
    await broker.clusters.confirm(client, instance, signal);
    return { client, issued };
  } catch (error) {
    broker.clusters.noticeFailure(instance, error);
    tellClock(broker, order, error);
    throw await giveUp(broker, order, { client, error });
  }
}

function tellClock(broker: Broker, { request, instance, grant }: IssueOrder, error: unknown): void {
  if (error instanceof ClusterClockError) {
    const facts = { instanceId: instance.id, bindingId: request.bindingId, grant: grant.name };
    clusterClockDiffers(broker.log, { ...facts, differenceSeconds: error.differenceSeconds });
  }
}

interface IssueFailure {
  readonly client: ClusterClient | undefined;
  readonly error: unknown;
}

/** @returns what the caller is told */
async function giveUp(
  broker: Broker,
  { request, instance, grant, signal }: IssueOrder,
  { client, error }: IssueFailure,
): Promise<unknown> {
  const { bindingId } = request;
  const { undone, overtaken } = await abandonIssue(broker, { instance, bindingId, grant, client });
  const told = overtaken ? stoppedByOther(error) : failureToTell(error, signal);
  bindingIssueFailed(broker.log, {
    instanceId: instance.id,
    bindingId,
    grant: grant.name,
    code: told instanceof BrokerError ? told.code : 'unexpected',
    undone,
  });
  return told;
}

function grantOrder(broker: Broker, { request, grant, signal }: IssueOrder): GrantOrder {
  const marker = broker.marker();
  return {
    name: grant.name,
    namespace: grant.namespace,
    mark: makeMark(marker, { name: grant.name, issuedAt: grant.intendedAt }),
    installation: marker.installation,
    bindingId: request.bindingId,
    instanceId: request.instanceId,
    expirationSeconds: grant.expirationSeconds,
    clock: broker.clusterClock,
    signal,
  };
}

/** What failed is but a trace of whoever ended the grant: its account was gone, for example. */
function stoppedByOther(cause: unknown): BrokerError {
  return new BrokerError(CONCURRENT_OPERATION, { cause });
}

function failureToTell(error: unknown, limit: AbortSignal): unknown {
  const isStopped = limit.aborted && error instanceof UpstreamError && error.reason === 'cancelled';
  return isStopped ? createLimitPassed(error) : whatToTell(error);
}
