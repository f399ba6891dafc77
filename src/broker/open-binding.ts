// Opens the stored credential of a live binding.
import type { Binding } from '../domain/binding.ts';
import { BrokerError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import { CONCURRENT_OPERATION } from '../domain/refusals.ts';
import { tokenPlace } from '../storage/grants.ts';
import type { Broker } from './broker.ts';
import { type HandedOutBinding, handOut } from './handed-out-binding.ts';

export interface StoredBinding {
  readonly instance: Instance;
  readonly binding: Binding;
  readonly sealedToken: string | undefined;
}

/**
 * @throws SealingError when the token's key is lost or its row was tampered with: our fault, and never "not found"
 * @throws BrokerError `concurrent-operation` when it was ended between the decision and the read of the token
 */
export function openBinding(
  broker: Pick<Broker, 'sealer'>,
  { instance, binding, sealedToken }: StoredBinding,
): HandedOutBinding {
  const { id, issuedAt, expiresAt } = binding.grant;
  if (sealedToken === undefined || issuedAt === undefined || expiresAt === undefined) {
    throw new BrokerError(CONCURRENT_OPERATION);
  }
  const token = broker.sealer.open(sealedToken, tokenPlace(id));
  return handOut({ instance, binding, issuedAt, expiresAt, token });
}
