// SQL that is written out, for the hot path and for what the query builder would only obscure. The text is made once,
// so that running it costs no building; postgres.ts sends it under a name.
import { CompiledQuery } from 'kysely';
import type { Tx } from './database.ts';

/** Runs its statement with values for $1, $2 …; `Row` is what its select or returning list gives. */
export type Statement<Row> = (tx: Tx, values: readonly unknown[]) => Promise<readonly Row[]>;

export function statement<Row>(text: string): Statement<Row> {
  return async (tx, values) => {
    const { rows } = await tx.executeQuery<Row>(CompiledQuery.raw(text, [...values]));
    return rows;
  };
}
