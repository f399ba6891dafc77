// The deciding transaction of a bind: it locks the instance, reads what is known in a second statement, decides, and
// where something is to be issued commits the announcement. All parallel requests pass here one after the other.
import { addSeconds } from '../domain/clock.ts';
import { type CreateBindingDecision, decideCreateBinding } from '../domain/binding-requests.ts';
import { BrokerError } from '../domain/errors.ts';
import { type Instance, instanceState } from '../domain/instance.ts';
import { INSTANCE_NOT_FOUND } from '../domain/refusals.ts';
import { grantName } from '../kubernetes/grant-name.ts';
import { type BindFacts, type BindQuestion, readBindFacts } from '../storage/bind-facts.ts';
import { announceGrant } from '../storage/bindings.ts';
import { inTransaction, type OpenTransaction } from '../storage/database.ts';
import { markDeadIssuesRevoking, markRevoking } from '../storage/grants.ts';
import { lockInstance } from '../storage/instances.ts';
import type { Broker } from './broker.ts';

export interface CreateBindingRequest {
  readonly instanceId: string;
  readonly bindingId: string;
  readonly serviceId: string;
  readonly planId: string;
  /** Undefined where the request said nothing. */
  readonly expirationSeconds: number | undefined;
  readonly createdBy: string;
}

/** A grant whose row is committed, so that its objects may be made. */
export interface AnnouncedGrant {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly intendedAt: Date;
  /** Lifetime to ask the cluster for. */
  readonly expirationSeconds: number;
}

type Served =
  | Exclude<CreateBindingDecision, { decision: 'refuse' | 'issue' }>
  | { readonly decision: 'issue'; readonly grant: AnnouncedGrant };

export interface DecidedBinding {
  readonly instance: Instance;
  readonly decided: Served;
  /** Of the binding as it was found; for what is handed out again. */
  readonly sealedToken: string | undefined;
  /** What the instance has left once this request is served. */
  readonly remainingSlots: number;
}

/** Beyond the create limit: the undo, a clock that lags, and a commit on its way. */
const LEASE_SLACK_SECONDS = 15;

/**
 * @throws BrokerError for a refusal, and `concurrent-operation` when `signal` fires before the request had its turn;
 *   then nothing was written
 */
export async function decideBinding(
  broker: Broker,
  request: CreateBindingRequest,
  signal: AbortSignal,
): Promise<DecidedBinding> {
  const work = () => inTransaction(broker.db, (tx) => decideUnderLock(broker, tx, request));
  return await broker.turns.take(request.instanceId, work, signal);
}

async function decideUnderLock(
  broker: Broker,
  tx: OpenTransaction,
  request: CreateBindingRequest,
): Promise<DecidedBinding> {
  const instanceKey = await lockInstance(tx, request.instanceId);
  if (instanceKey === undefined) {
    throw new BrokerError(INSTANCE_NOT_FOUND);
  }
  // Read after the wait for the lock, so that whatever the holder before us did lies in the past.
  const now = broker.clock();
  const facts = await readSettledFacts(tx, { instanceKey, bindingId: request.bindingId, now });
  if (facts === undefined) {
    throw new BrokerError(INSTANCE_NOT_FOUND);
  }
  return await decide(broker, tx, { request, facts, now });
}

/** Issues that died give their slots back by a committed write, which also fences their writers; then it is counted. */
async function readSettledFacts(
  tx: OpenTransaction,
  asked: BindQuestion,
): Promise<BindFacts | undefined> {
  const facts = await readBindFacts(tx, asked);
  if (facts === undefined || facts.deadIssues === 0) {
    return facts;
  }
  await markDeadIssuesRevoking(tx, asked);
  return await readBindFacts(tx, asked);
}

interface Known {
  readonly request: CreateBindingRequest;
  readonly facts: BindFacts;
  readonly now: Date;
}

async function decide(broker: Broker, tx: OpenTransaction, known: Known): Promise<DecidedBinding> {
  const { request, facts, now } = known;
  const { instance, latest, binding, slots } = facts;
  const plan = broker.provisioners.plan(instance.planId);
  const { serviceId, planId } = instance;
  const decided = decideCreateBinding(
    {
      instance: {
        serviceId,
        planId,
        state: instanceState(latest),
        clusterIsGone: instance.clusterGoneAt !== undefined,
      },
      plan,
      binding,
      slots,
    },
    request,
    now,
  );
  const free = Math.max(0, (plan?.binding.maxLive ?? 0) - slots.taken);
  const found = { instance, sealedToken: facts.sealedToken };
  switch (decided.decision) {
    case 'refuse':
      throw new BrokerError(decided.refusal);
    case 'issue': {
      const grant = await announce(broker, tx, {
        ...known,
        namespace: decided.namespace,
        expirationSeconds: decided.expirationSeconds,
      });
      return { ...found, decided: { decision: 'issue', grant }, remainingSlots: free - 1 };
    }
    case 'takeOver':
      await markRevoking(tx, { grantId: decided.grant.id, at: now });
      return { ...found, decided, remainingSlots: free };
    case 'same':
    case 'wait':
      return { ...found, decided, remainingSlots: free };
  }
}

interface GrantTerms {
  readonly namespace: string;
  readonly expirationSeconds: number;
}

/** Intent before effect (docs/architecture.md, "The promises"): a committed row names what may be on the cluster. */
async function announce(
  broker: Broker,
  tx: OpenTransaction,
  { request, facts, now, ...terms }: Known & GrantTerms,
): Promise<AnnouncedGrant> {
  const { instance } = facts;
  const { bindingId } = request;
  const grant: AnnouncedGrant = {
    id: broker.draw.uuid(),
    name: grantName(bindingId, broker.draw.letters),
    intendedAt: now,
    ...terms,
  };
  await announceGrant(tx, {
    binding: {
      instanceKey: instance.key,
      id: bindingId,
      expirationSeconds: request.expirationSeconds,
      createdBy: request.createdBy,
    },
    grant: {
      id: grant.id,
      name: grant.name,
      namespace: grant.namespace,
      replicaId: broker.replicaId,
      intendedAt: now,
      issuingUntil: addSeconds(now, broker.limits.createTimeoutMs / 1000 + LEASE_SLACK_SECONDS),
    },
  });
  return grant;
}
