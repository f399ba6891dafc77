// Keeps an announced grant: makes its objects and the token on the cluster, then stores the outcome in one guarded
// write. Until that write has succeeded nothing is handed out; whatever fails before it is undone.
import { BrokerError, UpstreamError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import { CONCURRENT_OPERATION } from '../domain/refusals.ts';
import { makeMark } from '../kubernetes/grant-mark.ts';
import { type IssuedGrant, issueGrant } from '../kubernetes/token-request-issuer.ts';
import { bindingIssued, lateWriterFenced } from '../observability/events.ts';
import { recordOutcome, tokenPlace } from '../storage/grants.ts';
import { abandonIssue } from './abandon-issue.ts';
import type { Broker } from './broker.ts';
import { whatToTell } from './cluster-refusals.ts';
import type { AnnouncedGrant, CreateBindingRequest } from './decide-binding.ts';
import { type HandedOutBinding, handOut } from './handed-out-binding.ts';

export interface IssueOrder {
  readonly request: CreateBindingRequest;
  readonly instance: Instance;
  readonly grant: AnnouncedGrant;
  /** Fires at the create limit. */
  readonly signal: AbortSignal;
}

export async function issueBinding(broker: Broker, order: IssueOrder): Promise<HandedOutBinding> {
  const issued = await issueOrUndo(broker, order);
  const { request, instance, grant } = order;
  // Should this write fail, or its outcome be unknown, the cluster is not touched: the row as it is found later
  // decides, and undoing first could leave a live row with a dead credential (design 5).
  const stored = await recordOutcome(broker.db, {
    grantId: grant.id,
    uids: issued.uids,
    sealedToken: broker.sealer.seal(issued.token, tokenPlace(grant.id)),
    issuedAt: issued.issuedAt,
    expiresAt: issued.expiresAt,
  });
  const facts = { instanceId: instance.id, bindingId: request.bindingId, grant: grant.name };
  if (!stored) {
    lateWriterFenced(broker.log, facts);
    await abandonIssue(broker, { instance, bindingId: request.bindingId, grant, reached: true });
    throw new BrokerError(CONCURRENT_OPERATION);
  }
  bindingIssued(broker.log, {
    ...facts,
    createdBy: request.createdBy,
    expiresAt: issued.expiresAt,
    tokenId: issued.tokenId,
    durationMs: broker.clock().getTime() - grant.intendedAt.getTime(),
  });
  return handOut({
    instance,
    binding: { id: request.bindingId, expirationSeconds: request.expirationSeconds },
    issuedAt: issued.issuedAt,
    expiresAt: issued.expiresAt,
    token: issued.token,
  });
}

async function issueOrUndo(broker: Broker, order: IssueOrder): Promise<IssuedGrant> {
  const { request, instance, grant, signal } = order;
  let reached = false;
  try {
    const client = await broker.clusters.open(instance, signal);
    reached = true;
    const marker = broker.marker();
    return await issueGrant(client, {
      name: grant.name,
      namespace: grant.namespace,
      mark: makeMark(marker, { name: grant.name, issuedAt: grant.intendedAt }),
      installation: marker.installation,
      bindingId: request.bindingId,
      instanceId: request.instanceId,
      expirationSeconds: grant.expirationSeconds,
      signal,
    });
  } catch (error) {
    broker.clusters.noticeFailure(instance, error);
    await abandonIssue(broker, { instance, bindingId: request.bindingId, grant, reached });
    throw stoppedByLimit(error, signal) ? limitPassed(error) : whatToTell(error);
  }
}

function stoppedByLimit(error: unknown, limit: AbortSignal): boolean {
  return limit.aborted && error instanceof UpstreamError && error.reason === 'cancelled';
}

/** Where the cluster names no time of its own (contract 4, "Limits of time"). */
const RETRY_AFTER_SECONDS = 5;

function limitPassed(cause: unknown): BrokerError {
  return new BrokerError(
    {
      code: 'create-limit-passed',
      description:
        'The cluster took too long; the attempt was stopped and is undone. Try again later.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
    { cause },
  );
}
