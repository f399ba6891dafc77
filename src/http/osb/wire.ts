// The bodies of OSB as they are on the wire; its names end here. What a schema does not list is ignored, at every
// level (OSB 2.17, Messages); what it lists has its type, and an optional field may be `null`, which means absent.
import { type Static, type TSchema, Type } from 'typebox';

import type { HandedOutBinding } from '../../broker/handed-out-binding.ts';
import type { Accounts } from '../../domain/accounts.ts';
import type { BindingContext } from '../../domain/caller.ts';
import type { LeftByFailure } from '../../domain/instance.ts';
import type { JsonObject } from '../../domain/json.ts';
import { MAX_STORED_CHARACTERS } from '../../domain/stored-text.ts';
import { toWireTime } from '../../domain/wire-time.ts';

function optional<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

const NonEmpty = Type.String({ minLength: 1 });

const Stored = Type.String({ maxLength: MAX_STORED_CHARACTERS });

export const PutInstanceBody = Type.Object({
  service_id: NonEmpty,
  plan_id: NonEmpty,
  organization_guid: NonEmpty,
  space_guid: NonEmpty,
  context: optional(
    Type.Object({
      platform: optional(Type.String()),
      globalaccount_id: optional(Stored),
      subaccount_id: optional(Stored),
      user_id: optional(Stored),
    }),
  ),
  // Which keys it takes is the plan's to say.
  parameters: optional(Type.Unsafe<JsonObject>({ type: 'object' })),
  // Without its version it would say nothing (C67).
  maintenance_info: optional(Type.Object({ version: Type.String() })),
});

/** `previous_values` tells what the platform believes, and is not asked (OSB 2.17, Updating). */
export const PatchInstanceBody = Type.Object({
  service_id: NonEmpty,
  plan_id: optional(NonEmpty),
  context: optional(
    Type.Object({
      platform: optional(Type.String()),
      globalaccount_id: optional(Stored),
      subaccount_id: optional(Stored),
      user_id: optional(Stored),
      active: optional(Type.Boolean()),
    }),
  ),
  parameters: optional(Type.Unsafe<JsonObject>({ type: 'object' })),
  maintenance_info: optional(Type.Object({ version: Type.String() })),
});

export const PutBindingBody = Type.Object({
  service_id: NonEmpty,
  plan_id: NonEmpty,
  app_guid: optional(Type.String()),
  bind_resource: optional(Type.Object({ app_guid: optional(Type.String()) })),
  context: optional(
    Type.Object({
      platform: optional(Type.String()),
      email: optional(Stored),
      origin: optional(Stored),
    }),
  ),
  // Ours, and so strict: a misspelt key must not silently mean the default.
  parameters: optional(
    Type.Object({ expiration_seconds: optional(Type.Integer()) }, { additionalProperties: false }),
  ),
  predecessor_binding_id: optional(Type.Unknown()),
});

/** `null`, absent and empty are one. */
function given(text: string | null | undefined): string | undefined {
  return text === null || text === '' ? undefined : text;
}

export function toAccounts({ context }: Pick<Static<typeof PutInstanceBody>, 'context'>): Accounts {
  const globalAccountId = given(context?.globalaccount_id);
  const subaccountId = given(context?.subaccount_id);
  // Platforms send mail addresses in any case; one person must stay one (docs/api.md, "Attach a cluster").
  const userId = given(context?.user_id)?.toLowerCase();
  return {
    ...(globalAccountId === undefined ? {} : { globalAccountId }),
    ...(subaccountId === undefined ? {} : { subaccountId }),
    ...(userId === undefined ? {} : { userId }),
  };
}

/** As last_operation and errors of updating and deleting have it (OSB 2.17, Service Broker Errors). */
export function fromFailure({ instanceUsable, updateRepeatable }: LeftByFailure) {
  return { instance_usable: instanceUsable, update_repeatable: updateRepeatable };
}

export function toBindingContext({ context }: Static<typeof PutBindingBody>): BindingContext {
  return { email: given(context?.email), origin: given(context?.origin) };
}

/** The only place where a credential leaves: in the answers to PUT and GET of its binding. */
export function fromBinding(binding: HandedOutBinding) {
  return {
    credentials: {
      kubeconfig: binding.kubeconfig.reveal(),
      server: binding.server,
      // JSON leaves out what is undefined: without CA data in the source, none is named.
      certificate_authority_data: binding.certificateAuthorityData,
      token: binding.token.reveal(),
    },
    metadata: {
      expires_at: toWireTime(binding.expiresAt),
      renew_before: toWireTime(binding.renewBefore),
    },
  };
}

/** As the request said them. */
export function fromBindingParameters({ expirationSeconds }: HandedOutBinding) {
  return { expiration_seconds: expirationSeconds };
}
