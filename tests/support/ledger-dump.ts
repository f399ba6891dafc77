// A test's own look into the broker's database, beside the broker: questions in SQL, and a dump of the ledger that two
// moments can be compared by. Answers are never given through it; what the broker says is asked over HTTP.

import { CompiledQuery } from 'kysely';
import pg from 'pg';
import type { Broker } from '../../src/broker/broker.ts';

/** Rows as JSON, by table, in the order of their keys. */
export type LedgerDump = Readonly<
  Record<LedgerTable, readonly Readonly<Record<string, unknown>>[]>
>;

type LedgerTable = 'instances' | 'operations' | 'bindings' | 'grants';

/** `replicas` is not among them: its beat goes on whatever is asked. */
const ORDER_OF_ROWS: Readonly<Record<LedgerTable, string>> = {
  instances: 'key',
  operations: 'number',
  bindings: 'instance_key, id',
  grants: 'intended_at, id',
};

/** Whose turn it is to be scanned: the sweep for orphans writes it by its own time, whatever is asked meanwhile. */
const BOOKKEEPING = `- '{next_scan_at,scan_position}'::text[]`;

export interface LedgerEyes {
  /** Any statement; rows come as the driver reads them. */
  sql<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<readonly Row[]>;
  dump(): Promise<LedgerDump>;
  /** To be called before the database is dropped. */
  close(): Promise<void>;
}

export function openLedgerEyes(databaseUrl: string): LedgerEyes {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  // A test may cut every connection to the database.
  pool.on('error', () => undefined);
  return eyesOn({
    query: async (text, values) => (await pool.query(text, [...values])).rows as readonly object[],
    close: () => pool.end(),
  });
}

/** Through the broker's own handle: an embedded database has one session. To be used while the broker runs. */
export function ledgerEyesOf({ db }: Pick<Broker, 'db'>): LedgerEyes {
  return eyesOn({
    query: async (text, values) =>
      (await db.executeQuery<object>(CompiledQuery.raw(text, [...values]))).rows,
    close: () => Promise.resolve(),
  });
}

interface Connection {
  readonly query: (text: string, values: readonly unknown[]) => Promise<readonly object[]>;
  readonly close: () => Promise<void>;
}

function eyesOn({ query, close }: Connection): LedgerEyes {
  const sql: LedgerEyes['sql'] = async <Row extends object>(
    text: string,
    values: readonly unknown[] = [],
  ) => (await query(text, values)) as readonly Row[];
  return {
    sql,
    async dump() {
      const tables = Object.entries(ORDER_OF_ROWS).map(async ([table, order]) => {
        const rows = await sql<{ row: Record<string, unknown> }>(
          `select to_jsonb(t) ${BOOKKEEPING} as row from ${table} t order by ${order}`,
        );
        return [table, rows.map(({ row }) => row)] as const;
      });
      return Object.fromEntries<LedgerDump[LedgerTable]>(
        await Promise.all(tables),
      ) as unknown as LedgerDump;
    },
    close,
  };
}

/**
 * Runs `act` and gives back what it gives, with the ledger as it was before and as it is after it. OSB 2.17: "If the
 * Service Broker returns 4xx, its resources are as before" (C31) is then `expect(after).toEqual(before)`.
 */
export async function aroundLedger<T>(
  ledger: LedgerEyes,
  act: () => Promise<T>,
): Promise<{ readonly answer: T; readonly before: LedgerDump; readonly after: LedgerDump }> {
  const before = await ledger.dump();
  const answer = await act();
  return { answer, before, after: await ledger.dump() };
}
