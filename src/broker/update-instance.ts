// Accepts a change of an instance, its suspension or its resumption: one transaction decides and writes the operation
// with what it is to change. Until that has succeeded the instance stays as it is. Only a context is kept at once.
import { type Accounts, changesAccounts } from '../domain/accounts.ts';
import { addSeconds } from '../domain/clock.ts';
import { BrokerError } from '../domain/errors.ts';
import { type Instance, instanceState } from '../domain/instance.ts';
import { type JsonObject, sameJson } from '../domain/json.ts';
import type { InstanceChange, Operation } from '../domain/operation.ts';
import { CONCURRENT_OPERATION, INSTANCE_NOT_FOUND } from '../domain/refusals.ts';
import { Secret } from '../domain/secret.ts';
import {
  decideUpdateInstance,
  mergedParameters,
  type UpdateType,
} from '../domain/update-requests.ts';
import { type ClusterAccess, sameAccess, serializeAccess } from '../kubernetes/cluster-access.ts';
import { instanceUpdateAccepted } from '../observability/events.ts';
import { endBindingsOfInstance } from '../storage/bindings.ts';
import { inTransaction, type OpenTransaction } from '../storage/database.ts';
import { changeAccounts, nameRuntime } from '../storage/instance-changes.ts';
import { findInstance, type FoundInstance, lockInstance } from '../storage/instances.ts';
import { insertOperation, newAccessPlace } from '../storage/operations.ts';
import { SealingError } from '../storage/sealing.ts';
import { MAINTENANCE_CONFLICT } from './admit-instance.ts';
import { admitUpdate, type NamedUpdate, type UpdateAdmission } from './admit-update.ts';
import type { Broker } from './broker.ts';

export interface UpdateInstanceRequest extends NamedUpdate {
  readonly instanceId: string;
  readonly acceptsIncomplete: boolean;
  /** Those that the context gives. */
  readonly accounts: Accounts;
  /** Whether the instance is to have a runtime; undefined where the context does not say. */
  readonly active: boolean | undefined;
  readonly maintenanceVersion: string | undefined;
}

export type UpdateInstanceAnswer =
  | { readonly outcome: 'accepted'; readonly operationId: string }
  | { readonly outcome: 'unchanged' };

/**
 * A repeat answers with the operation that runs, or that there is nothing to change.
 * @throws BrokerError by the state matrix of instances (update-requests.ts)
 */
export async function updateInstance(
  broker: Broker,
  request: UpdateInstanceRequest,
): Promise<UpdateInstanceAnswer> {
  const { instanceId } = request;
  const seen = await findInstance(broker.db, instanceId);
  const current = seen?.instance.deletedAt === undefined ? seen?.instance : undefined;
  const admission = await admitUpdate(broker, request, current);
  const work = () =>
    inTransaction(broker.db, (tx) => decideUnderLock(broker, tx, { request, admission }));
  const { answer, started } = await broker.turns.take(instanceId, work);
  if (started !== undefined) {
    instanceUpdateAccepted(broker.log, { instanceId, ...started });
  }
  return answer;
}

interface Asked {
  readonly request: UpdateInstanceRequest;
  readonly admission: UpdateAdmission;
}

interface Decided {
  readonly answer: UpdateInstanceAnswer;
  /** Undefined when nothing was begun by this request. */
  readonly started: StartedUpdate | undefined;
}

interface StartedUpdate {
  readonly operationId: string;
  readonly planId: string;
  readonly type: UpdateType;
  readonly endingGrants: number;
}

async function decideUnderLock(
  broker: Broker,
  tx: OpenTransaction,
  asked: Asked,
): Promise<Decided> {
  const { request, admission } = asked;
  const key = await lockInstance(tx, request.instanceId);
  const found = key === undefined ? undefined : await findInstance(tx, request.instanceId);
  if (found === undefined) {
    throw admission.fault ?? new BrokerError(INSTANCE_NOT_FOUND);
  }
  const { instance, latest } = found;
  if (instance.key !== admission.instanceKey) {
    // Another instance has the id since it was looked at; what was admitted was not meant for that one.
    throw new BrokerError(CONCURRENT_OPERATION);
  }
  const wanted = await wantedOf(broker, tx, { found, admission });
  refuseByRules(asked, wanted);
  const decided = decideUpdateInstance({
    current: {
      state: instanceState(latest),
      latestFailed: latest.state === 'failed',
      clusterIsGone: instance.clusterGoneAt !== undefined,
    },
    asked: {
      ofPlan: admission.changesPlan,
      ofParameters: wanted.isChange,
      active: request.active,
    },
    sameAsRunning: !wanted.isNews,
    acceptsIncomplete: request.acceptsIncomplete,
  });
  switch (decided.decision) {
    case 'refuse':
      throw new BrokerError(decided.refusal);
    case 'inProgress':
      return { answer: { outcome: 'accepted', operationId: latest.id }, started: undefined };
    case 'nothing':
      await keepContext(broker, tx, { instance, accounts: request.accounts });
      return { answer: { outcome: 'unchanged' }, started: undefined };
    case 'start':
      return await start(broker, tx, { found, type: decided.type, wanted, request });
  }
}

interface Wanted {
  readonly parameters: JsonObject;
  /** Undefined where the one that is kept stays. */
  readonly newAccess: ClusterAccess | undefined;
  /** Against what the instance is, or was before the update that runs. */
  readonly isChange: boolean;
  /** Neither so already nor on its way. */
  readonly isNews: boolean;
}

async function wantedOf(
  broker: Broker,
  tx: OpenTransaction,
  { found, admission }: { readonly found: FoundInstance; readonly admission: UpdateAdmission },
): Promise<Wanted> {
  const { instance, latest } = found;
  const parameters = mergedParameters(instance.parameters, admission.parameters);
  const { access } = admission;
  const kept =
    access && (await openedOf(broker, () => broker.clusters.sealedAccessOf(tx, instance.key)));
  const newAccess = access !== undefined && kept && sameAccess(kept, access) ? undefined : access;
  const isChange = newAccess !== undefined || !sameJson(parameters, instance.parameters);
  const isNews =
    admission.changesPlan ||
    (isChange && !(await isOnItsWay(broker, tx, { latest, parameters, newAccess })));
  return { parameters, newAccess, isChange, isNews };
}

interface Compared {
  readonly latest: Operation;
  readonly parameters: JsonObject;
  readonly newAccess: ClusterAccess | undefined;
}

async function isOnItsWay(
  broker: Broker,
  tx: OpenTransaction,
  { latest, parameters, newAccess }: Compared,
): Promise<boolean> {
  const { change } = latest;
  if (latest.type !== 'update' || latest.state !== 'in progress' || change === undefined) {
    return false;
  }
  const brought = await openedOf(broker, () => broker.clusters.newAccessOf(tx, latest.id));
  const sameNewAccess =
    brought === undefined || newAccess === undefined
      ? brought === newAccess
      : sameAccess(brought, newAccess);
  return sameNewAccess && sameJson(change.parameters, parameters);
}

/** An access that cannot be opened is not the one that is given: replacing it is what mends that. */
async function openedOf(
  { log }: Broker,
  open: () => Promise<ClusterAccess | undefined>,
): Promise<ClusterAccess | undefined> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof SealingError)) {
      throw error;
    }
    log.warn({ err: error }, 'a sealed access cannot be opened, and so not be compared');
    return undefined;
  }
}

/** Today's rules are not asked about what is so already, or was accepted under earlier ones. */
function refuseByRules({ request, admission }: Asked, { isNews }: Wanted): void {
  if (isNews && admission.fault !== undefined) {
    throw admission.fault;
  }
  if (request.maintenanceVersion !== undefined) {
    throw new BrokerError(MAINTENANCE_CONFLICT);
  }
}

async function keepContext(
  { clock }: Broker,
  tx: OpenTransaction,
  { instance, accounts }: { readonly instance: Instance; readonly accounts: Accounts },
): Promise<void> {
  if (changesAccounts(instance.accounts, accounts)) {
    await changeAccounts(tx, instance.key, { accounts, at: clock() });
  }
}

interface Start {
  readonly found: FoundInstance;
  readonly type: UpdateType;
  readonly wanted: Wanted;
  readonly request: UpdateInstanceRequest;
}

async function start(broker: Broker, tx: OpenTransaction, order: Start): Promise<Decided> {
  const { found, type, wanted, request } = order;
  const { instance } = found;
  const at = broker.clock();
  const operationId = broker.draw.uuid();
  const endingGrants =
    type === 'suspend' ? await endBindingsOfInstance(tx, { instanceKey: instance.key, at }) : 0;
  const { suspensionRemovesRuntime, provisionSeconds, deprovisionSeconds } =
    broker.provisioners.provisionerOf(instance);
  if (type === 'resume' && suspensionRemovesRuntime === true) {
    await nameNextRuntime(broker, tx, { found, at });
  }
  const change: InstanceChange = { parameters: wanted.parameters, accounts: request.accounts };
  await insertOperation(tx, {
    id: operationId,
    instanceKey: instance.key,
    type,
    description: ACCEPTED[type],
    deadline: addSeconds(at, type === 'suspend' ? deprovisionSeconds : provisionSeconds),
    createdAt: at,
    change,
    sealedAccess:
      wanted.newAccess &&
      broker.sealer.seal(
        new Secret(serializeAccess(wanted.newAccess)),
        newAccessPlace(operationId),
      ),
  });
  await broker.jobs.wake(tx, { operationId, at });
  return {
    answer: { outcome: 'accepted', operationId },
    started: { operationId, planId: instance.planId, type, endingGrants },
  };
}

const ACCEPTED: Readonly<Record<UpdateType, string>> = {
  update: 'The update was accepted.',
  suspend: 'The suspension was accepted.',
  resume: 'The resumption was accepted.',
};

/** After a failure something may be there under the id that was drawn before; what goes on with it finds it by that. */
async function nameNextRuntime(
  { draw }: Broker,
  tx: OpenTransaction,
  { found, at }: { readonly found: FoundInstance; readonly at: Date },
): Promise<void> {
  if (found.latest.state !== 'failed') {
    await nameRuntime(tx, found.instance.key, { runtimeId: draw.uuid(), at });
  }
}
