// The sealed values of the ledger one after the other, and the guarded write that puts one under another key in its
// place. What a value is, is not known here; opening and sealing are the caller's.
import type { Tx } from './database.ts';
import { tokenPlace } from './grants.ts';
import { markKeyPlace } from './installation.ts';
import { accessPlace } from './instances.ts';
import { newAccessPlace } from './operations.ts';
import type { SealedPlace } from './sealing.ts';
import { statement } from './statement.ts';

export interface SealedValue {
  readonly place: SealedPlace;
  readonly sealed: string;
}

export type SealedKind = 'tokens' | 'accesses' | 'markKeys';

export interface SealedColumn {
  readonly kind: SealedKind;
  /** In the order of their rows, behind the row `after`; from the first one where there is none. */
  list(tx: Tx, page: SealedPage): Promise<readonly SealedValue[]>;
  /**
   * A value that was ended, erased or sealed anew meanwhile stays as it is.
   * @returns whether it was replaced
   */
  replace(tx: Tx, value: SealedValue, by: string): Promise<boolean>;
}

export interface SealedPage {
  readonly after: string | undefined;
  readonly limit: number;
}

interface ColumnNames {
  readonly kind: SealedKind;
  readonly table: string;
  readonly id: string;
  readonly idType?: 'uuid' | 'text';
  readonly column: string;
  readonly placeOf: (row: string) => SealedPlace;
}

/** Every column that the broker seals. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  sealedColumn({
    kind: 'markKeys',
    table: 'installation',
    id: 'id',
    column: 'sealed_mark_key',
    placeOf: markKeyPlace,
  }),
  sealedColumn({
    kind: 'accesses',
    table: 'instances',
    id: 'key',
    column: 'sealed_access',
    placeOf: accessPlace,
  }),
  sealedColumn({
    kind: 'accesses',
    table: 'operations',
    id: 'id',
    idType: 'text',
    column: 'sealed_access',
    placeOf: newAccessPlace,
  }),
  sealedColumn({
    kind: 'tokens',
    table: 'grants',
    id: 'id',
    column: 'sealed_token',
    placeOf: tokenPlace,
  }),
];

function sealedColumn(names: ColumnNames): SealedColumn {
  const { kind, table, id, idType = 'uuid', column, placeOf } = names;
  const select = statement<{ id: string; sealed: string }>(
    `select ${id} as id, ${column} as sealed from ${table}
    where ${column} is not null and ($1::${idType} is null or ${id} > $1) order by ${id} limit $2`,
  );
  // One row a statement: of two that write many rows in orders of their own, each would wait for the other.
  const update = statement<{ id: string }>(
    `update ${table} set ${column} = $3 where ${id} = $1 and ${column} = $2 returning ${id} as id`,
  );
  return {
    kind,
    async list(tx, { after, limit }) {
      const rows = await select(tx, [after ?? null, limit]);
      return rows.map((row) => ({ place: placeOf(row.id), sealed: row.sealed }));
    },
    async replace(tx, { place, sealed }, by) {
      const replaced = await update(tx, [place.row, sealed, by]);
      return replaced.length > 0;
    },
  };
}
