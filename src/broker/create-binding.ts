// Issues a binding, or hands out the one that is there already (docs/architecture.md, "One binding, walked"). Each
// round decides under the instance's lock; between two rounds, outside of any transaction, another request's issue is
// waited for, or what an earlier attempt left behind is ended.
import { BrokerError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import { CONCURRENT_OPERATION } from '../domain/refusals.ts';
import { bindingHandedOutAgain, bindingRefused } from '../observability/events.ts';
import { answerInTime } from './answer-in-time.ts';
import { awaitNews, awaitWriter } from './await-writer.ts';
import type { Broker } from './broker.ts';
import { createLimitPassed, whatToTell } from './cluster-refusals.ts';
import { type CreateBindingRequest, type DecidedBinding, decideBinding } from './decide-binding.ts';
import { finishRevocation } from './finish-revocation.ts';
import type { HandedOutBinding } from './handed-out-binding.ts';
import { issueBinding } from './issue-binding.ts';
import { openBinding } from './open-binding.ts';

export interface CreatedBinding {
  readonly outcome: 'issued' | 'same';
  readonly binding: HandedOutBinding;
  readonly remainingSlots: number;
}

/**
 * A repeat with the same parameters gets the same credential. Whatever fails leaves nothing behind that a repeat, a
 * DELETE or a sweep does not settle.
 * @throws BrokerError by the table of docs/api.md, "Bind"
 */
export async function createBinding(
  broker: Broker,
  request: CreateBindingRequest,
): Promise<CreatedBinding> {
  const limitMs = broker.limits.createTimeoutMs + broker.limits.undoTimeoutMs;
  const work = issueOrRepeat(broker, request);
  return await answerInTime(broker, work, { limitMs, late: () => createLimitPassed(undefined) });
}

async function issueOrRepeat(
  broker: Broker,
  request: CreateBindingRequest,
): Promise<CreatedBinding> {
  const signal = AbortSignal.timeout(broker.limits.createTimeoutMs);
  do {
    const found = await decideAndTell(broker, request, signal);
    const { instance, decided, remainingSlots } = found;
    switch (decided.decision) {
      case 'issue': {
        const binding = await issueBinding(broker, {
          request,
          instance,
          grant: decided.grant,
          signal,
        });
        return { outcome: 'issued', binding, remainingSlots };
      }
      case 'same': {
        const binding = openBinding(broker, {
          instance,
          binding: decided.binding,
          sealedToken: found.sealedToken,
        });
        bindingHandedOutAgain(broker.log, {
          instanceId: instance.id,
          bindingId: request.bindingId,
          grant: decided.binding.grant.name,
          requestedBy: request.createdBy,
        });
        return { outcome: 'same', binding, remainingSlots };
      }
      case 'wait':
        await awaitNews(broker, decided.grant, signal);
        break;
      case 'takeOver':
        await endLeftover(broker, { instance, decided, signal });
    }
  } while (!signal.aborted);
  throw new BrokerError(CONCURRENT_OPERATION);
}

async function decideAndTell(
  broker: Broker,
  request: CreateBindingRequest,
  signal: AbortSignal,
): Promise<DecidedBinding> {
  try {
    return await decideBinding(broker, request, signal);
  } catch (error) {
    if (error instanceof BrokerError) {
      const { instanceId, bindingId } = request;
      bindingRefused(broker.log, { instanceId, bindingId, code: error.code });
    }
    throw error;
  }
}

interface Leftover {
  readonly instance: Instance;
  readonly decided: Extract<DecidedBinding['decided'], { decision: 'takeOver' }>;
  readonly signal: AbortSignal;
}

async function endLeftover(broker: Broker, { instance, decided, signal }: Leftover): Promise<void> {
  const grantId = decided.grant.id;
  try {
    await awaitWriter(broker, grantId, signal);
    await finishRevocation(broker, { instance, grantId, signal });
  } catch (error) {
    const told = whatToTell(error);
    if (decided.otherwise !== undefined && told instanceof BrokerError) {
      throw new BrokerError(decided.otherwise, { cause: error });
    }
    throw told;
  }
}
