// The database's own clock. It decides nothing: it is compared with a replica's, so that one that goes wrong is seen.
import { sql } from 'kysely';
import type { Tx } from './database.ts';

export async function readDatabaseClock(tx: Tx): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(tx);
  const [row] = rows;
  if (row === undefined) {
    throw new Error('the database did not tell its time');
  }
  return row.now;
}
