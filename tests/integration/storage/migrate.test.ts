// Replicas that start at once, releases that meet on one database, and the schema's promise of one installation.
import { sql } from 'kysely';
import { afterEach, expect, it } from 'vitest';
import { readInstallation, storeMarkKey } from '../../../src/storage/installation.ts';
import { migrate, schemaIsCurrent } from '../../../src/storage/migrate.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { describeWith } from '../../support/needs.ts';
import { type Ledger, openEmptyDatabase, openEmptyPostgres } from './ledger.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describeOnEngines('migrating', {}, (engine) => {
  let ledger: Ledger;

  afterEach(() => ledger.close());

  it('does nothing the second time, and keeps the id of the installation', async () => {
    ledger = await openEmptyDatabase(engine);
    await migrate(ledger.db);
    const { id, sealedMarkKey } = await readInstallation(ledger.db);

    expect(await migrate(ledger.db)).toEqual([]);

    expect(id).toMatch(UUID);
    expect(sealedMarkKey).toBeUndefined();
    expect(await readInstallation(ledger.db)).toEqual({ id, sealedMarkKey });
  });

  it('leaves a database alone that a newer release has brought further', async () => {
    ledger = await openEmptyDatabase(engine);
    await migrate(ledger.db);
    await sql`insert into schema_migrations (name, timestamp) values ('9999-later', 'then')`.execute(
      ledger.db,
    );

    expect(await schemaIsCurrent(ledger.db)).toBe(true);
    expect(await migrate(ledger.db)).toEqual([]);
  });

  it('leaves nothing behind of a migration that fails', async () => {
    ledger = await openEmptyDatabase(engine);
    await sql`create table grants (id uuid)`.execute(ledger.db);

    await expect(migrate(ledger.db)).rejects.toThrow('relation "grants" already exists');

    expect(await schemaIsCurrent(ledger.db)).toBe(false);
    const { rows } = await sql<{ found: string | null }>`
      select to_regclass('instances')::text as found`.execute(ledger.db);
    expect(rows).toEqual([{ found: null }]);
  });

  it('allows one installation only', async () => {
    ledger = await openEmptyDatabase(engine);
    await migrate(ledger.db);

    await expect(
      sql`insert into installation (id) values (gen_random_uuid())`.execute(ledger.db),
    ).rejects.toThrow('installation_pkey');
  });

  it('keeps the first mark key, whichever replica stores it', async () => {
    ledger = await openEmptyDatabase(engine);
    await migrate(ledger.db);
    const keys = ['v1.k.a.1', 'v1.k.a.2', 'v1.k.a.3', 'v1.k.a.4'];

    const stored = await Promise.all(keys.map((key) => storeMarkKey(ledger.db, key)));

    const [winner] = stored;
    expect(keys).toContain(winner);
    expect(stored).toEqual([winner, winner, winner, winner]);
    expect((await readInstallation(ledger.db)).sealedMarkKey).toBe(winner);
  });
});

describeWith({ postgres: true }, 'migrating, on PostgreSQL alone', () => {
  it('is done by one of eight replicas that start at once, while the others wait and go on', async () => {
    const ledger = await openEmptyPostgres();
    const replicas = Array.from({ length: 8 }, () => ledger.open({ maxConnections: 2 }));
    expect(await schemaIsCurrent(ledger.db)).toBe(false);

    const done = await Promise.all(replicas.map((replica) => migrate(replica)));

    const applied = [['0001-ledger', '0002-reconcilers', '0003-updates', '0004-platform-region']];
    expect(done.filter((names) => names.length > 0)).toEqual(applied);
    expect(await Promise.all(replicas.map((replica) => schemaIsCurrent(replica)))).toEqual(
      Array.from({ length: 8 }, () => true),
    );
    await ledger.close();
  });
});
