// What operators did, with their reason. It stays known after what it concerns is pruned.
import type { Tx } from './database.ts';

export interface NewEvent {
  readonly at: Date;
  readonly type: string;
  /** Who did it, as far as is known. */
  readonly actor: string;
  readonly reason: string;
  readonly instanceKey: string;
  readonly instanceId: string;
  /** Where it concerns one binding. */
  readonly bindingId?: string;
  /** Where it concerns one attempt. */
  readonly grantName?: string;
}

export async function insertEvent(tx: Tx, event: NewEvent): Promise<void> {
  await tx
    .insertInto('events')
    .values({
      at: event.at,
      type: event.type,
      actor: event.actor,
      reason: event.reason,
      instance_key: event.instanceKey,
      instance_id: event.instanceId,
      binding_id: event.bindingId ?? null,
      grant_name: event.grantName ?? null,
    })
    .execute();
}
