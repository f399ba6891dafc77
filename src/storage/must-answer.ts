// For what needs nothing of the database but that it is there.
import { sql } from 'kysely';
import type { Tx } from './database.ts';

/** @throws UpstreamError while the database is away */
export async function mustAnswer(tx: Tx): Promise<void> {
  await sql`select 1`.execute(tx);
}
