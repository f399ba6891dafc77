// What the orders of operators have in common on the wire: which instance or binding they are about, and a reason, which
// is recorded with who gives it (docs/api.md, "Orders").
import type { FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { type Static, Type } from 'typebox';

import type { OperatorOrder } from '../../broker/operator-order.ts';
import { BrokerError } from '../../domain/errors.ts';
import { reasonFault } from '../../domain/reason.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { bodyFault } from '../body-faults.ts';

export const RuntimePath = Type.Object({ instance_id: Type.String() });

export const BindingPath = Type.Object({ instance_id: Type.String(), binding_id: Type.String() });

/** Ours, and so strict: a misspelt key must not pass for a reason. */
export const OrderBody = Type.Object({ reason: Type.String() }, { additionalProperties: false });

type OrderRequest = Pick<FastifyRequest, 'headers'> & {
  readonly params: Static<typeof RuntimePath>;
  readonly body: Static<typeof OrderBody>;
};

/** @throws BrokerError where the reason says nothing, or too much */
export function orderOf(
  authenticator: Authenticator,
  { headers, params, body: { reason } }: OrderRequest,
): OperatorOrder {
  const fault = reasonFault(reason);
  if (fault !== undefined) {
    throw new BrokerError({ code: 'malformed-request', description: `reason ${fault}.` });
  }
  // The door lets nobody in that the authenticator does not know; who it was is asked here.
  const caller = authenticator.authenticate(headers);
  if (caller === undefined) {
    throw new Error('a request without credentials got past the door');
  }
  return { instanceId: params.instance_id, actor: caller.name, reason };
}

/** Of an order without any body too, what is missing is the reason. */
export function orderFault(faults: readonly FastifySchemaValidationError[]): BrokerError {
  const [fault] = faults;
  return fault?.keyword === 'type' && fault.instancePath === ''
    ? new BrokerError({
        code: 'malformed-request',
        description: 'The body must be a JSON object with a reason.',
      })
    : bodyFault(faults);
}
