// Who this installation is to clusters: its id, drawn by the first migration, and the key that signs its marks.
import { sql } from 'kysely';
import type { Tx } from './database.ts';
import type { SealedPlace } from './sealing.ts';

export interface Installation {
  readonly id: string;
  /** Undefined until a first start has stored one; sealed for `markKeyPlace`. */
  readonly sealedMarkKey: string | undefined;
}

export function markKeyPlace(installationId: string): SealedPlace {
  return { table: 'installation', column: 'sealed_mark_key', row: installationId };
}

export async function readInstallation(tx: Tx): Promise<Installation> {
  const row = await tx
    .selectFrom('installation')
    .select(['id', 'sealed_mark_key'])
    .executeTakeFirstOrThrow();
  return { id: row.id, sealedMarkKey: row.sealed_mark_key ?? undefined };
}

/**
 * Replicas may start at once: the first one's key stays.
 * @returns the sealed key that is stored now, which is the one to use
 */
export async function storeMarkKey(tx: Tx, sealedMarkKey: string): Promise<string> {
  const row = await tx
    .updateTable('installation')
    .set({ sealed_mark_key: sql`coalesce(sealed_mark_key, ${sealedMarkKey})` })
    .returning('sealed_mark_key')
    .executeTakeFirstOrThrow();
  return row.sealed_mark_key ?? sealedMarkKey;
}
