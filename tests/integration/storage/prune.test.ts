// What history goes after a day, and what stays whatever its age.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { endGrant, recordLastLook } from '../../../src/storage/grants.ts';
import { markInstanceDeleted } from '../../../src/storage/instances.ts';
import {
  pruneBindings,
  pruneEarlierGrants,
  pruneInstances,
  pruneOperations,
  pruneReplicas,
} from '../../../src/storage/prune.ts';
import { announceGrant } from '../../../src/storage/bindings.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import { beat } from '../../../src/storage/replicas.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import {
  announceBinding,
  finishOperation,
  issue,
  type Ledger,
  type MadeBinding,
  makeInstance,
  newGrant,
  NOW,
  openLedger,
  seconds,
  startOperation,
} from './ledger.ts';

const MANY = 100;

describeOnEngines('history', {}, (engine) => {
  let ledger: Ledger;
  let instanceKey: string;

  beforeAll(async () => {
    ledger = await openLedger(engine);
  });
  afterAll(() => ledger.close());

  beforeEach(async () => {
    ({ key: instanceKey } = await makeInstance(ledger.db));
  });

  async function endedAt(at: Date, of = instanceKey): Promise<MadeBinding> {
    const made = await announceBinding(ledger.db, of);
    await issue(ledger.db, made.grant.id);
    await endGrant(ledger.db, { grantId: made.grant.id, at, proof: 'refused' });
    return made;
  }

  async function rebound({ binding }: MadeBinding): Promise<string> {
    const grant = newGrant();
    await inTransaction(ledger.db, (tx) => announceGrant(tx, { binding, grant }));
    return grant.id;
  }

  const idsOf = async (table: 'grants' | 'bindings' | 'operations', key = instanceKey) => {
    const rows = await ledger.db
      .selectFrom(table)
      .select('id')
      .where('instance_key', '=', key)
      .orderBy('id')
      .execute();
    return rows.map(({ id }) => id);
  };

  it('goes with its binding at the time that is given, and not a millisecond earlier', async () => {
    const { binding, grant } = await endedAt(seconds(10));
    const batch = (before: Date) => ({ before, limit: MANY });
    expect(await pruneBindings(ledger.db, batch(seconds(9.999)))).toBe(0);
    expect(await idsOf('bindings')).toEqual([binding.id]);
    expect(await pruneBindings(ledger.db, batch(seconds(10)))).toBe(1);
    expect(await idsOf('bindings')).toEqual([]);
    expect(await idsOf('grants')).not.toContain(grant.id);
  });

  it('stays while a grant lives, is to be revoked, or is to be looked at once more', async () => {
    const live = await announceBinding(ledger.db, instanceKey);
    await issue(ledger.db, live.grant.id);
    const unmade = await announceBinding(ledger.db, instanceKey);
    await endGrant(ledger.db, { grantId: unmade.grant.id, at: NOW, proof: 'objects-gone' });
    const batch = { before: seconds(1_000_000), limit: MANY };

    expect(await pruneBindings(ledger.db, batch)).toBe(0);
    expect(await pruneEarlierGrants(ledger.db, batch)).toBe(0);
    await recordLastLook(ledger.db, unmade.grant.id);
    expect(await pruneBindings(ledger.db, batch)).toBe(1);
    expect(await idsOf('grants')).toEqual([live.grant.id]);
  });

  it('of a binding that was made anew goes without it', async () => {
    const made = await endedAt(seconds(10));
    const current = await rebound(made);
    const batch = { before: seconds(10), limit: MANY };
    expect(await pruneBindings(ledger.db, batch)).toBe(0);
    expect(await pruneEarlierGrants(ledger.db, { ...batch, before: seconds(9) })).toBe(0);
    expect(await pruneEarlierGrants(ledger.db, batch)).toBe(1);
    expect(await idsOf('grants')).toEqual([current]);
    expect(await idsOf('bindings')).toEqual([made.binding.id]);
  });

  it('of a binding stays as long as an earlier attempt is not revoked', async () => {
    const stuck = await announceBinding(ledger.db, instanceKey);
    await issue(ledger.db, stuck.grant.id);
    const current = await rebound(stuck);
    await issue(ledger.db, current);
    await endGrant(ledger.db, { grantId: current, at: seconds(1), proof: 'refused' });
    const batch = { before: seconds(1_000_000), limit: MANY };
    expect(await pruneBindings(ledger.db, batch)).toBe(0);
    expect(await pruneEarlierGrants(ledger.db, batch)).toBe(0);
    expect(await idsOf('grants')).toEqual([stuck.grant.id, current].sort());
  });

  it('goes in batches', async () => {
    for (let at = 0; at < 5; at += 1) await endedAt(seconds(20));
    const batch = { before: seconds(20), limit: 2 };
    const gone = [];
    for (let at = 0; at < 4; at += 1) gone.push(await pruneBindings(ledger.db, batch));
    expect(gone).toEqual([2, 2, 1, 0]);
  });

  it('of an instance goes with its operations, once it has no bindings', async () => {
    const made = await endedAt(seconds(30));
    await startOperation(ledger.db, instanceKey, 'deprovision');
    await markInstanceDeleted(ledger.db, instanceKey, { at: seconds(30) });
    const living = await makeInstance(ledger.db);
    const batch = { before: seconds(30), limit: MANY };

    expect(await pruneInstances(ledger.db, batch)).toBe(0);
    expect(await pruneBindings(ledger.db, batch)).toBe(1);
    expect(await pruneInstances(ledger.db, { ...batch, before: seconds(29.999) })).toBe(0);
    expect(await pruneInstances(ledger.db, batch)).toBe(1);

    expect(await idsOf('operations')).toEqual([]);
    expect(await idsOf('bindings')).not.toContain(made.binding.id);
    expect(await idsOf('operations', living.key)).toHaveLength(1);
    expect(await pruneInstances(ledger.db, { ...batch, before: seconds(1_000_000) })).toBe(0);
  });

  it('of operations goes but for the latest, and for what runs', async () => {
    const batch = { before: NOW, limit: MANY };
    await pruneOperations(ledger.db, batch);
    const [provisioned] = await idsOf('operations');
    expect(await pruneOperations(ledger.db, batch)).toBe(0);
    const running = await startOperation(ledger.db, instanceKey, 'update');
    expect(await pruneOperations(ledger.db, { ...batch, before: seconds(-0.001) })).toBe(0);
    expect(await pruneOperations(ledger.db, batch)).toBe(1);
    expect(await idsOf('operations')).toEqual([running]);
    await finishOperation(ledger.db, running, 'succeeded');
    expect(await pruneOperations(ledger.db, batch)).toBe(0);
    expect(provisioned).not.toBe(running);
  });

  it('of replicas goes, but for those that were seen since', async () => {
    const [gone, seen] = [randomUUID(), randomUUID()];
    await beat(ledger.db, { replicaId: gone, at: seconds(1) });
    await beat(ledger.db, { replicaId: seen, at: seconds(1.001) });
    await pruneReplicas(ledger.db, seconds(1));
    const left = await ledger.db.selectFrom('replicas').select('id').execute();
    expect(left.map(({ id }) => id)).toEqual([seen]);
  });

  it('is not taken from under a bind that makes its binding anew at that moment', async () => {
    for (let round = 0; round < 20; round += 1) {
      const made = await endedAt(seconds(40));
      const [, current] = await Promise.all([
        pruneBindings(ledger.db, { before: seconds(40), limit: MANY }),
        rebound(made),
      ]);
      const binding = await ledger.db
        .selectFrom('bindings')
        .select('current_grant')
        .where('instance_key', '=', instanceKey)
        .where('id', '=', made.binding.id)
        .executeTakeFirst();
      expect(binding?.current_grant).toBe(current);
      expect(await idsOf('grants')).toContain(current);
    }
  });
});
