// A backup of the ledger and its restoration, as an operator would do both with the broker stopped: what was written in
// between is lost, and the clusters know nothing of it.

import type { LedgerEyes } from './ledger-dump.ts';

/** In an order in which each finds what it refers to; bindings and grants refer to each other. */
const TABLES = [
  'instances',
  'operations',
  'bindings',
  'grants',
  'suspected_restores',
  'events',
] as const;

export interface LedgerBackup {
  /** Nobody may write meanwhile. */
  restore(): Promise<void>;
}

export async function backUpLedger(ledger: LedgerEyes): Promise<LedgerBackup> {
  const tables: { readonly table: string; readonly rows: string }[] = [];
  for (const table of TABLES) {
    const [row] = await ledger.sql<{ rows: string }>(
      `select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as rows from ${table} t`,
    );
    tables.push({ table, rows: row?.rows ?? '[]' });
  }
  return {
    async restore() {
      // One statement, and so one transaction of one session; foreign keys are not looked at in the middle of it.
      const inserts = tables.map(
        ({ table, rows }) =>
          `insert into ${table} overriding system value
            select * from jsonb_populate_recordset(null::${table}, ${quoted(rows)}::jsonb);`,
      );
      await ledger.sql(`do $restore$ begin
        set local session_replication_role = replica;
        truncate ${TABLES.join(', ')} cascade;
        ${inserts.join('\n')}
      end $restore$`);
    },
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
