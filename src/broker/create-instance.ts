// Accepts the provisioning of an instance: one transaction writes the record, the operation and the job that wakes
// it. The work itself is the runner's.
import type { Accounts } from '../domain/accounts.ts';
import { addSeconds } from '../domain/clock.ts';
import { BrokerError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import { instanceState } from '../domain/instance.ts';
import { type JsonObject, sameJson } from '../domain/json.ts';
import { decideCreateInstance } from '../domain/instance-requests.ts';
import { CONCURRENT_OPERATION } from '../domain/refusals.ts';
import { Secret } from '../domain/secret.ts';
import { sameAccess, serializeAccess } from '../kubernetes/cluster-access.ts';
import { instanceProvisioningAccepted } from '../observability/events.ts';
import { inTransaction } from '../storage/database.ts';
import { accessPlace, findInstance, insertInstance } from '../storage/instances.ts';
import { insertOperation } from '../storage/operations.ts';
import { type Admission, admitInstance, UNKNOWN_PLAN } from './admit-instance.ts';
import type { Broker } from './broker.ts';

export interface CreateInstanceRequest {
  readonly instanceId: string;
  readonly serviceId: string;
  readonly planId: string;
  readonly acceptsIncomplete: boolean;
  readonly parameters: JsonObject;
  readonly accounts: Accounts;
  /** BTP region of the platform that asks. */
  readonly platformRegion: string;
  readonly maintenanceVersion: string | undefined;
}

export type CreateInstanceAnswer =
  | { readonly outcome: 'accepted'; readonly operationId: string }
  | { readonly outcome: 'exists' };

/** Names cluster, context and user of issued kubeconfigs where none is given (docs/api.md, "Attach a cluster"). */
const DEFAULT_NAME = 'runtime';

/** How often a PUT that lost the race for its id looks again before it gives up. */
const MAX_LOOKS = 3;

/**
 * A repeat answers what the first one answered, as long as it is the same request.
 * @throws BrokerError by the state of the instance (OSB 2.17, Provisioning)
 */
export async function createInstance(
  broker: Broker,
  request: CreateInstanceRequest,
): Promise<CreateInstanceAnswer> {
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    const answer = await answerByState(broker, request);
    if (answer !== 'taken') {
      return answer;
    }
  }
  throw new BrokerError(CONCURRENT_OPERATION);
}

async function answerByState(
  broker: Broker,
  request: CreateInstanceRequest,
): Promise<CreateInstanceAnswer | 'taken'> {
  const found = await findInstance(broker.db, request.instanceId);
  const current = found?.instance.deletedAt === undefined ? found : undefined;
  const admission = admitInstance(broker, request, current?.instance);
  const sameRequest = await isSameRequest(broker, current?.instance, { request, admission });
  if (!sameRequest) {
    await checkWhatIsNew(broker, request, admission);
  }
  const decided = decideCreateInstance({
    current: current && { state: instanceState(current.latest), sameRequest },
    acceptsIncomplete: request.acceptsIncomplete,
  });
  switch (decided.decision) {
    case 'refuse':
      throw new BrokerError(decided.refusal);
    case 'exists':
      return { outcome: 'exists' };
    case 'inProgress':
      return { outcome: 'accepted', operationId: current?.latest.id ?? '' };
    case 'create':
      return await insert(broker, request, admission);
  }
}

/** Today's schema and rules are not asked about what was admitted under earlier ones, nor a plan that is gone. */
async function checkWhatIsNew(
  { parameterRules }: Broker,
  { parameters }: CreateInstanceRequest,
  { plan, provisioner, admitted }: Admission,
): Promise<void> {
  if (plan !== undefined) {
    parameterRules.checkCreate(plan, parameters);
  }
  if (admitted.access !== undefined) {
    await provisioner.checkNewAccess?.(admitted.access);
  }
}

interface Comparison {
  readonly request: CreateInstanceRequest;
  readonly admission: Admission;
}

/** Service, plan and parameters decide; names of organisations and spaces may change under us (C71). */
async function isSameRequest(
  broker: Broker,
  instance: Instance | undefined,
  { request, admission: { admitted } }: Comparison,
): Promise<boolean> {
  if (
    instance === undefined ||
    instance.serviceId !== request.serviceId ||
    instance.planId !== request.planId ||
    !sameJson(instance.parameters, admitted.parameters)
  ) {
    return false;
  }
  const access = await broker.clusters.runtimeOf(instance).sealedAccess();
  return access === undefined || admitted.access === undefined
    ? access === admitted.access
    : sameAccess(access, admitted.access);
}

async function insert(
  broker: Broker,
  request: CreateInstanceRequest,
  { provisioner, plan, admitted }: Admission,
): Promise<CreateInstanceAnswer | 'taken'> {
  if (plan === undefined) {
    throw new BrokerError(UNKNOWN_PLAN);
  }
  const { clock, draw, sealer } = broker;
  const now = clock();
  const key = draw.uuid();
  const operationId = draw.uuid();
  const { name, region } = admitted.parameters;
  const sealedAccess =
    admitted.access === undefined
      ? undefined
      : sealer.seal(new Secret(serializeAccess(admitted.access)), accessPlace(key));
  const inserted = await inTransaction(broker.db, async (tx) => {
    const outcome = await insertInstance(tx, {
      key,
      id: request.instanceId,
      serviceId: request.serviceId,
      planId: plan.id,
      provisioner: provisioner.name,
      name: typeof name === 'string' ? name : DEFAULT_NAME,
      region: typeof region === 'string' ? region : request.platformRegion,
      platformRegion: request.platformRegion,
      runtimeId: draw.uuid(),
      accounts: request.accounts,
      parameters: admitted.parameters,
      sealedAccess,
      createdAt: now,
    });
    if (outcome === 'taken') {
      return false;
    }
    await insertOperation(tx, {
      id: operationId,
      instanceKey: key,
      type: 'provision',
      description: 'Provisioning was accepted.',
      deadline: addSeconds(now, provisioner.provisionSeconds),
      createdAt: now,
    });
    await broker.jobs.wake(tx, { operationId, at: now });
    return true;
  });
  if (!inserted) {
    return 'taken';
  }
  instanceProvisioningAccepted(broker.log, {
    instanceId: request.instanceId,
    planId: plan.id,
    operationId,
  });
  return { outcome: 'accepted', operationId };
}
