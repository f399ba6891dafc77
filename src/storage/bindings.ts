// The promises: a binding is announced together with the grant that is to keep it, and deleted together with it.
// Reading one is left to bind-facts.ts, what becomes of its grant to grants.ts.
import type { OpenTransaction, Tx } from './database.ts';
import { statement } from './statement.ts';

export interface NewBinding {
  readonly instanceKey: string;
  readonly id: string;
  /** As the request said it. */
  readonly expirationSeconds: number | undefined;
  readonly createdBy: string;
}

export interface NewGrant {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  /** Whose life the issue hangs on. */
  readonly replicaId: string;
  readonly intendedAt: Date;
  readonly issuingUntil: Date;
}

const announce = statement<{ id: string }>(
  `with announced as (
    insert into grants
      (id, name, instance_key, binding_id, namespace, replica_id, intended_at, issuing_until, next_try_at)
    values ($5, $6, $1, $2, $7, $8, $9, $10, $10)
    returning id, intended_at
  )
  insert into bindings (instance_key, id, expiration_seconds, created_by, current_grant, created_at)
  select $1::uuid, $2, $3::integer, $4, announced.id, announced.intended_at from announced
  on conflict (instance_key, id) do update set
    expiration_seconds = excluded.expiration_seconds,
    created_by = excluded.created_by,
    current_grant = excluded.current_grant,
    created_at = excluded.created_at,
    deleted_at = null
  returning id`,
);

/**
 * Writes the intent: a new grant, and the binding that it is for, made or made anew. Grants that the binding had
 * before stay as they are. One statement, so that neither is ever there without the other.
 */
export async function announceGrant(
  tx: OpenTransaction,
  { binding, grant }: { readonly binding: NewBinding; readonly grant: NewGrant },
): Promise<void> {
  await announce(tx, [
    binding.instanceKey,
    binding.id,
    binding.expirationSeconds ?? null,
    binding.createdBy,
    grant.id,
    grant.name,
    grant.namespace,
    grant.replicaId,
    grant.intendedAt,
    grant.issuingUntil,
  ]);
}

export interface BindingDeletion {
  readonly instanceKey: string;
  readonly bindingId: string;
  /** The current one, as it was read. */
  readonly grantId: string;
  readonly at: Date;
}

/**
 * Who orders the end also begins to bring it about: a DELETE has this long for it (compose.ts), a deprovisioning starts
 * with it. The reconciler takes it over only then, so that two do not work on the same grant at once.
 */
const OWN_TRY = `interval '15 seconds'`;

const REVOKING = `update grants set revoking_since = $3, next_try_at = $3::timestamptz + ${OWN_TRY}
    where ended_at is null and revoking_since is null`;

const deleteBinding = statement<{ id: string }>(
  `with deleted as (
    update bindings set deleted_at = coalesce(deleted_at, $3)
    where instance_key = $1 and id = $2 and current_grant = $4
    returning id, current_grant
  ), ordered as (
    ${REVOKING} and id in (select current_grant from deleted)
  )
  select id from deleted`,
);

/**
 * The committed order to end a binding: it is deleted from now on, and its grant is to be revoked. A repeat keeps the
 * first times.
 * @returns false when the binding has another grant by now; then nothing was written, and it is to be read again
 */
export async function markBindingDeleted(tx: Tx, deletion: BindingDeletion): Promise<boolean> {
  const { instanceKey, bindingId, at, grantId } = deletion;
  const deleted = await deleteBinding(tx, [instanceKey, bindingId, at, grantId]);
  return deleted.length > 0;
}

const endBindings = statement<{ id: string }>(
  `with deleted as (
    update bindings set deleted_at = $2 where instance_key = $1 and deleted_at is null
  )
  update grants set revoking_since = $2, next_try_at = $2::timestamptz + ${OWN_TRY}
  where instance_key = $1 and ended_at is null and revoking_since is null
  returning id`,
);

/**
 * Deletes all bindings of an instance and orders all its grants to end, those of earlier attempts too.
 * @returns how many grants were ordered to end by this call
 */
export async function endBindingsOfInstance(
  tx: OpenTransaction,
  { instanceKey, at }: { readonly instanceKey: string; readonly at: Date },
): Promise<number> {
  const ordered = await endBindings(tx, [instanceKey, at]);
  return ordered.length;
}
