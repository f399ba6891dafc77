// What the reconcilers have to do with: what expired or died is marked, what is due is claimed by one replica at a time,
// and the access of a deleted instance is erased once nothing of it is left.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  claimDueGrants,
  type DueGrantsClaim,
  eraseSettledAccess,
  makeFailedTriesDue,
  markDeadIssuesDue,
  markExpiredRevoking,
  readNextExpiry,
  readNextTry,
  releaseGrants,
} from '../../../src/storage/due-grants.ts';
import {
  endGrant,
  markRevoking,
  readGrantForRevocation,
  recordLastLook,
  recordRevocationFailure,
} from '../../../src/storage/grants.ts';
import { markInstanceDeleted, readSealedAccess } from '../../../src/storage/instances.ts';
import { beat } from '../../../src/storage/replicas.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import {
  announceBinding,
  issue,
  type Ledger,
  makeInstance,
  NOW,
  openLedger,
  seconds,
} from './ledger.ts';

const NOTHING_TAKEN: ReadonlyMap<string, number> = new Map();

describeOnEngines('grants that are due', {}, (engine) => {
  let ledger: Ledger;
  let instanceKey: string;
  let replicaId: string;

  beforeAll(async () => {
    ledger = await openLedger(engine);
  });
  afterAll(() => ledger.close());

  beforeEach(async () => {
    // Each test counts over all instances.
    await ledger.db
      .updateTable('grants')
      .set({
        ended_at: NOW,
        proof: 'test over',
        sealed_token: null,
        next_try_at: null,
        lease_replica: null,
        leased_until: null,
      })
      .execute();
    replicaId = randomUUID();
    await beat(ledger.db, { replicaId, at: seconds(3600) });
    ({ key: instanceKey } = await makeInstance(ledger.db));
  });

  async function announced(of = instanceKey): Promise<string> {
    const { grant } = await announceBinding(ledger.db, of, { grant: { replicaId } });
    return grant.id;
  }

  async function live(expiresAt: Date, of = instanceKey): Promise<string> {
    const grantId = await announced(of);
    await issue(ledger.db, grantId, { expiresAt });
    return grantId;
  }

  async function ordered(at: Date, of = instanceKey): Promise<string> {
    const grantId = await live(seconds(600), of);
    await markRevoking(ledger.db, { grantId, at });
    return grantId;
  }

  const claimAs = async (change: Partial<DueGrantsClaim> = {}) => {
    const claimed = await claimDueGrants(ledger.db, {
      replicaId,
      now: NOW,
      leasedUntil: seconds(60),
      limit: 100,
      perInstance: 100,
      placesTaken: NOTHING_TAKEN,
      ...change,
    });
    return claimed.map(({ grantId }) => grantId).sort();
  };

  it('are ordered to end at their expiry, and no earlier, in batches', async () => {
    const ids = [await live(seconds(600)), await live(seconds(601)), await live(seconds(602))];
    const mark = (now: Date, limit = 10) => markExpiredRevoking(ledger.db, { now, limit });

    expect(await mark(seconds(599.999))).toBe(0);
    expect(await mark(seconds(600))).toBe(1);
    expect(await mark(seconds(601.5))).toBe(1);
    await live(seconds(700));
    await live(seconds(701));
    expect(await mark(seconds(800), 2)).toBe(2);
    expect(await mark(seconds(800), 2)).toBe(1);
    expect(await mark(seconds(800), 2)).toBe(0);

    const first = await readGrantForRevocation(ledger.db, ids[0] ?? '');
    expect(first?.revokingSince).toEqual(seconds(600));
    expect(await claimAs({ now: seconds(600) })).toEqual([ids[0]]);
  });

  it('keep the order that they had before their expiry', async () => {
    const grantId = await ordered(seconds(5));
    expect(await markExpiredRevoking(ledger.db, { now: seconds(900), limit: 10 })).toBe(0);
    expect((await readGrantForRevocation(ledger.db, grantId))?.revokingSince).toEqual(seconds(5));
  });

  it('are ordered to end when their issue is dead, over all instances', async () => {
    const other = await makeInstance(ledger.db);
    const lost = await announceBinding(ledger.db, other.key);
    const written = await announced();
    const mark = (now: Date) => markDeadIssuesDue(ledger.db, { now, limit: 10 });

    expect(await mark(NOW)).toBe(1);
    const found = await readGrantForRevocation(ledger.db, lost.grant.id);
    expect(found?.revokingSince).toEqual(NOW);
    expect(await mark(seconds(29.999))).toBe(0);
    expect(await mark(seconds(30))).toBe(1);
    expect(await issue(ledger.db, written)).toBe(false);
  });

  it('are claimed once they were ordered to end and are due; one that lives is not', async () => {
    const due = await ordered(NOW);
    await ordered(seconds(1));
    await live(seconds(600));
    await announced();

    expect(await claimAs()).toEqual([due]);
    expect(await claimAs()).toEqual([]);
  });

  it('are left to a writer that lives, until its lease is over', async () => {
    const grantId = await announced();
    await markRevoking(ledger.db, { grantId, at: NOW });

    expect(await claimAs({ now: seconds(29) })).toEqual([]);
    expect(await claimAs({ now: seconds(30), leasedUntil: seconds(90) })).toEqual([grantId]);
  });

  it('are claimed once more after an end without an outcome, and told as ended', async () => {
    const grantId = await announced();
    await endGrant(ledger.db, { grantId, at: seconds(1), proof: 'objects-gone' });
    const claim = (now: Date) =>
      claimDueGrants(ledger.db, {
        replicaId,
        now,
        leasedUntil: seconds(200),
        limit: 10,
        perInstance: 4,
        placesTaken: NOTHING_TAKEN,
      });

    expect(await claim(seconds(89.999))).toEqual([]);
    expect(await claim(seconds(90))).toEqual([{ grantId, instanceKey, endedAt: seconds(1) }]);
    await recordLastLook(ledger.db, grantId);
    expect(await claim(seconds(900))).toEqual([]);
  });

  it('are free again when a lease is over, and sooner when its replica is lost', async () => {
    const grantId = await ordered(NOW);
    const crashed = randomUUID();
    await beat(ledger.db, { replicaId: crashed, at: NOW });
    expect(await claimAs({ replicaId: crashed })).toEqual([grantId]);

    expect(await claimAs({ now: seconds(6) })).toEqual([]);
    expect(await claimAs({ now: seconds(6.001), leasedUntil: seconds(66) })).toEqual([grantId]);
    expect(await claimAs({ now: seconds(65.999) })).toEqual([]);
    expect(await claimAs({ now: seconds(66), leasedUntil: seconds(126) })).toEqual([grantId]);
  });

  it('are free again when they are released, by who holds them and nobody else', async () => {
    const grantId = await ordered(NOW);
    await claimAs();
    const other = randomUUID();
    await releaseGrants(ledger.db, { replicaId: other, grantIds: [grantId] });
    expect(await claimAs()).toEqual([]);
    await releaseGrants(ledger.db, { replicaId, grantIds: [grantId] });
    expect(await claimAs()).toEqual([grantId]);
  });

  it('lose their lease with their end, a failure and a last look', async () => {
    const leases = async () =>
      (
        await ledger.db
          .selectFrom('grants')
          .select('id')
          .where('lease_replica', 'is not', null)
          .execute()
      ).length;
    const [ended, failed] = [await ordered(NOW), await ordered(NOW)];
    await claimAs();
    expect(await leases()).toBe(2);
    await endGrant(ledger.db, { grantId: ended, at: NOW, proof: 'refused' });
    await recordRevocationFailure(ledger.db, {
      grantId: failed,
      error: 'cluster: cut',
      nextTryAt: seconds(5),
    });
    expect(await leases()).toBe(0);
  });

  it('of one instance are claimed up to its share, longest due first, and those of others beside them', async () => {
    const other = await makeInstance(ledger.db);
    const third = await makeInstance(ledger.db);
    const ids: string[] = [];
    for (let at = 0; at < 6; at += 1) ids.push(await ordered(seconds(at - 10)));
    const others = [await ordered(seconds(-1), other.key), await ordered(seconds(-2), third.key)];

    const placesTaken = new Map([
      [instanceKey, 1],
      [third.key, 3],
    ]);
    expect(await claimAs({ perInstance: 3, placesTaken })).toEqual(
      [ids[0] ?? '', ids[1] ?? '', others[0] ?? ''].sort(),
    );
    expect(await claimAs({ perInstance: 4, placesTaken, limit: 1 })).toEqual([ids[2]]);
  });

  it('are never claimed by two at once', async () => {
    const ids: string[] = [];
    for (let at = 0; at < 40; at += 1) ids.push(await ordered(NOW));
    const claims = Array.from({ length: 8 }, () => claimAs({ limit: 10 }));
    const claimed = (await Promise.all(claims)).flat();
    expect(new Set(claimed).size).toBe(claimed.length);
    const rest = await claimAs();
    expect([...claimed, ...rest].sort()).toEqual(ids.sort());
  });

  it('tell when the next one expires, and when the next one is to be tried', async () => {
    const horizon = seconds(1000);
    expect(await readNextExpiry(ledger.db, horizon)).toBeUndefined();
    const question = { now: NOW, perInstance: 4, placesTaken: NOTHING_TAKEN, horizon };
    expect(await readNextTry(ledger.db, question)).toBeUndefined();

    await live(seconds(600));
    const waiting = await ordered(NOW);
    const failure = { grantId: waiting, error: 'cluster: cut', nextTryAt: seconds(40) };
    await recordRevocationFailure(ledger.db, failure);

    expect(await readNextExpiry(ledger.db, horizon)).toEqual(seconds(600));
    expect(await readNextExpiry(ledger.db, seconds(599))).toBeUndefined();
    expect(await readNextTry(ledger.db, question)).toEqual(seconds(40));
    expect(await readNextTry(ledger.db, { ...question, horizon: seconds(39) })).toBeUndefined();
    const placesTaken = new Map([[instanceKey, 4]]);
    expect(await readNextTry(ledger.db, { ...question, placesTaken })).toBeUndefined();
    await claimAs({ now: seconds(40), leasedUntil: seconds(100) });
    expect(await readNextTry(ledger.db, question)).toBeUndefined();
  });

  it('are made due where a try had failed, once their cluster is back', async () => {
    const failed = await ordered(NOW);
    await recordRevocationFailure(ledger.db, {
      grantId: failed,
      error: 'cluster: unreachable',
      nextTryAt: seconds(900),
    });
    const other = await makeInstance(ledger.db);
    const untouched = await ordered(seconds(900), other.key);
    await makeFailedTriesDue(ledger.db, { instanceKey, now: seconds(1) });
    await makeFailedTriesDue(ledger.db, { instanceKey: other.key, now: seconds(1) });
    expect(await claimAs({ now: seconds(1) })).toEqual([failed]);
    expect(untouched).not.toBe(failed);
  });

  it('keep the access of a deleted instance until nothing is left to be done', async () => {
    const { key } = await makeInstance(ledger.db, { sealedAccess: 'v1.k.iv.sealed' });
    const [ended, unmade] = [await live(seconds(600), key), await announced(key)];
    const erase = () => eraseSettledAccess(ledger.db, { at: seconds(9) });

    expect(await erase()).toEqual([]);
    await markInstanceDeleted(ledger.db, key, { at: seconds(1) });
    expect(await erase()).toEqual([]);
    await endGrant(ledger.db, { grantId: ended, at: seconds(2), proof: 'refused' });
    await endGrant(ledger.db, { grantId: unmade, at: seconds(2), proof: 'objects-gone' });
    expect(await erase()).toEqual([]);
    expect(await readSealedAccess(ledger.db, key)).toBe('v1.k.iv.sealed');
    await recordLastLook(ledger.db, unmade);
    expect(await eraseSettledAccess(ledger.db, { at: NOW, instanceKey })).toEqual([]);
    expect(await erase()).toEqual([key]);
    expect(await readSealedAccess(ledger.db, key)).toBeUndefined();
    expect(await erase()).toEqual([]);
  });

  it('keep nothing of a living instance from its access', async () => {
    const { key } = await makeInstance(ledger.db, { sealedAccess: 'v1.k.iv.sealed' });
    expect(await eraseSettledAccess(ledger.db, { at: NOW, instanceKey: key })).toEqual([]);
    expect(await readSealedAccess(ledger.db, key)).toBe('v1.k.iv.sealed');
  });
});
