// Where the platform is, beside where the runtime is: a request may name another region for that.
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table instances add column platform_region text`.execute(db);
}
