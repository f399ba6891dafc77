// What a broker keeps, as one text, so that "after 4xx everything is as before" (OSB 2.17, Service Broker Errors) can
// be asked of every refusal. In SQL, since the broker itself is what is doubted.

import pg from 'pg';

export interface Ledger {
  /** Table → all of its rows, as PostgreSQL prints them. */
  dump(): Promise<Readonly<Record<string, string>>>;
  close(): Promise<void>;
}

/**
 * All four in one statement, and so at one moment. `replicas` is not among them, nor whose turn it is to be looked through
 * for orphans: both go on by their own time, whatever is asked.
 */
const DUMP = `select
  (select jsonb_agg(to_jsonb(t) - '{next_scan_at,scan_position}'::text[] order by t.key)::text from instances t) as instances,
  (select jsonb_agg(to_jsonb(t) order by t.number)::text from operations t) as operations,
  (select jsonb_agg(to_jsonb(t) order by t.instance_key, t.id)::text from bindings t) as bindings,
  (select jsonb_agg(to_jsonb(t) order by t.intended_at, t.id)::text from grants t) as grants`;

export function openLedger(databaseUrl: string): Ledger {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  // A broker that is ended takes its database with it, and nobody waits for an answer then.
  pool.on('error', () => undefined);
  return {
    async dump() {
      const { rows } = await pool.query<Record<string, string | null>>(DUMP);
      const tables = Object.entries(rows[0] ?? {});
      return Object.fromEntries(tables.map(([table, text]) => [table, text ?? '']));
    },
    close: () => pool.end(),
  };
}
