// Promise: N binds at once, over several replicas, never exceed the limit; and what forced it in earlier designs.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readBindFacts } from '../../../src/storage/bind-facts.ts';
import { announceGrant } from '../../../src/storage/bindings.ts';
import { type Db, inTransaction } from '../../../src/storage/database.ts';
import { markDeadIssuesRevoking, markRevoking } from '../../../src/storage/grants.ts';
import { lockInstance } from '../../../src/storage/instances.ts';
import { beat } from '../../../src/storage/replicas.ts';
import { describeWith } from '../../support/needs.ts';
import {
  announceBinding,
  issue,
  makeInstance,
  newBinding,
  newGrant,
  NOW,
  openPostgresLedger,
  type PostgresLedger,
  seconds,
} from './ledger.ts';

const LIMIT = 10;
const REPLICA = '00000000-0000-4000-8000-000000000001';

describeWith({ postgres: true }, 'binds at once, on PostgreSQL', () => {
  let ledger: PostgresLedger;
  let replicas: readonly Db[];

  beforeAll(async () => {
    ledger = await openPostgresLedger();
    replicas = [ledger.db, ledger.open(), ledger.open()];
  });
  afterAll(() => ledger.close());

  it('never take more slots than there are, with 20 of them over three replicas', async () => {
    await beat(ledger.db, { replicaId: REPLICA, at: NOW });
    for (let round = 0; round < 5; round += 1) {
      const { id, key } = await makeInstance(ledger.db);

      const outcomes = await bindOverAll(20, id);

      expect(outcomes.filter((outcome) => outcome !== undefined)).toHaveLength(LIMIT);
      expect(await takenSlots(key)).toBe(LIMIT);
    }
  });

  it('never exceed the limit while others end, expire late or die', async () => {
    const { id, key } = await makeInstance(ledger.db);
    const dying = await Promise.all(
      Array.from({ length: LIMIT }, () => announceBinding(ledger.db, key)),
    );
    const overshoots: number[] = [];

    await Promise.all([
      bindOverAll(20, id),
      ...dying.map(({ grant }) => issue(ledger.db, grant.id)),
      ...dying.slice(5).map(({ grant }) => markRevoking(ledger.db, { grantId: grant.id, at: NOW })),
      ...Array.from({ length: 10 }, async () => {
        overshoots.push(await takenSlots(key));
      }),
    ]);

    expect(Math.max(...overshoots, await takenSlots(key))).toBeLessThanOrEqual(LIMIT);
  });

  it('give a slot to one bind only when the lease of its last holder lapses under way', async () => {
    const { id, key } = await makeInstance(ledger.db);
    const full = await Promise.all(
      Array.from({ length: LIMIT }, () => announceBinding(ledger.db, key)),
    );
    for (const { grant } of full.slice(1)) {
      await issue(ledger.db, grant.id);
    }
    const late = full[0]?.grant.id ?? '';

    // Its replica is not known, so it is dead to whoever looks, while its writer is about to store the outcome.
    const [stored, bound] = await Promise.all([issue(ledger.db, late), bind(ledger.db, id)]);

    expect([stored, bound !== undefined]).toContain(false);
    expect(await takenSlots(key)).toBe(LIMIT);
  });

  function bindOverAll(count: number, osbId: string): Promise<readonly (string | undefined)[]> {
    const binds = Array.from({ length: count }, (_, at) =>
      bind(replicas[at % 3] ?? ledger.db, osbId),
    );
    return Promise.all(binds);
  }

  async function takenSlots(instanceKey: string): Promise<number> {
    const facts = await readBindFacts(ledger.db, { instanceKey, bindingId: 'x', now: NOW });
    return facts?.slots.taken ?? -1;
  }
});

/** As the broker's verb does it. @returns the new grant's id, or undefined where the slots are taken */
async function bind(db: Db, osbId: string): Promise<string | undefined> {
  return await inTransaction(db, async (tx) => {
    const instanceKey = (await lockInstance(tx, osbId)) ?? '';
    await markDeadIssuesRevoking(tx, { instanceKey, now: NOW });
    const binding = newBinding(instanceKey);
    const facts = await readBindFacts(tx, { instanceKey, bindingId: binding.id, now: NOW });
    if (facts === undefined || facts.slots.taken >= LIMIT) {
      return undefined;
    }
    const grant = newGrant({ replicaId: REPLICA, issuingUntil: seconds(30) });
    await announceGrant(tx, { binding, grant });
    return grant.id;
  });
}
