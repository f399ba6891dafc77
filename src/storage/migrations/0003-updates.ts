// What an operation is to make of its instance once it has succeeded. The instance itself keeps what is true until then.
import { type Kysely, sql } from 'kysely';

const STATEMENTS = [
  'alter table operations add column change json',
  /** Admin access that came with the request; erased when the operation ends, since the instance has it then or nobody. */
  'alter table operations add column sealed_access text',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) {
    await sql.raw(statement).execute(db);
  }
}
