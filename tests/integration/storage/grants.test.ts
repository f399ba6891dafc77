// Grants: the fenced outcome, the order to end, the tries, the end; and what the database itself never lets happen.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../../src/storage/database.ts';
import {
  endGrant,
  listUnfinishedGrantIds,
  markDeadIssuesRevoking,
  markRevoking,
  markUndoing,
  readGrantForRevocation,
  recordLastLook,
  recordRevocationFailure,
  recordUndoFailure,
  tokenPlace,
} from '../../../src/storage/grants.ts';
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
  UIDS,
} from './ledger.ts';

describeOnEngines('grants', {}, (engine) => {
  let ledger: Ledger;
  let instanceKey: string;
  let grantId: string;
  let replicaId: string;

  beforeAll(async () => {
    ledger = await openLedger(engine);
  });
  afterAll(() => ledger.close());

  beforeEach(async () => {
    replicaId = randomUUID();
    await beat(ledger.db, { replicaId, at: NOW });
    ({ key: instanceKey } = await makeInstance(ledger.db));
    const { grant } = await announceBinding(ledger.db, instanceKey, { grant: { replicaId } });
    grantId = grant.id;
  });

  const read = () => readGrantForRevocation(ledger.db, grantId);
  const nextTryAt = async () => {
    const row = await ledger.db
      .selectFrom('grants')
      .select('next_try_at')
      .where('id', '=', grantId)
      .executeTakeFirstOrThrow();
    return row.next_try_at;
  };

  it('store an outcome once', async () => {
    expect(await nextTryAt()).toEqual(seconds(30));

    expect(await issue(ledger.db, grantId, { expiresAt: seconds(600) })).toBe(true);
    expect(await issue(ledger.db, grantId, { expiresAt: seconds(900) })).toBe(false);

    expect(await read()).toMatchObject({
      uids: UIDS,
      issuedAt: NOW,
      expiresAt: seconds(600),
      sealedToken: 'v1.k.aXY.c2VhbGVk',
      tries: 0,
    });
    expect(await nextTryAt()).toEqual(seconds(600));
    expect(tokenPlace('g')).toEqual({ table: 'grants', column: 'sealed_token', row: 'g' });
  });

  it('refuse an outcome once they were asked to end', async () => {
    expect(await markRevoking(ledger.db, { grantId, at: seconds(1) })).toBe(true);

    expect(await issue(ledger.db, grantId)).toBe(false);

    expect(await read()).toMatchObject({ expiresAt: undefined, sealedToken: undefined });
  });

  it('refuse an outcome once they have ended', async () => {
    await endGrant(ledger.db, { grantId, at: seconds(1), proof: 'never made' });

    expect(await issue(ledger.db, grantId)).toBe(false);
  });

  it('refuse the outcome of a grant that is not there', async () => {
    expect(await issue(ledger.db, randomUUID())).toBe(false);
  });

  it('take an outcome or the order to end, never both, when both come at once', async () => {
    for (let round = 0; round < 25; round += 1) {
      const { grant } = await announceBinding(ledger.db, instanceKey);

      const [stored] = await Promise.all([
        issue(ledger.db, grant.id),
        markRevoking(ledger.db, { grantId: grant.id, at: seconds(1) }),
      ]);

      const after = await readGrantForRevocation(ledger.db, grant.id);
      expect(after?.revokingSince).toEqual(seconds(1));
      // Stored means it came first; what came second found the order and stored nothing.
      expect(after?.expiresAt !== undefined).toBe(stored);
    }
  });

  it('keep the first time of the order to end, and make the next try due at each', async () => {
    await markRevoking(ledger.db, { grantId, at: seconds(1) });
    await recordRevocationFailure(ledger.db, {
      grantId,
      error: 'cluster: unreachable',
      nextTryAt: seconds(900),
    });
    expect(await nextTryAt()).toEqual(seconds(900));

    expect(await markRevoking(ledger.db, { grantId, at: seconds(5) })).toBe(true);

    expect(await read()).toMatchObject({ revokingSince: seconds(1), tries: 1 });
    expect(await nextTryAt()).toEqual(seconds(5));
  });

  it('end once, with their proof, and without their token', async () => {
    await issue(ledger.db, grantId);
    await markRevoking(ledger.db, { grantId, at: seconds(1) });

    await endGrant(ledger.db, { grantId, at: seconds(2), proof: 'refused' });
    await endGrant(ledger.db, { grantId, at: seconds(9), proof: 'expired' });

    expect(await read()).toMatchObject({ endedAt: seconds(2), sealedToken: undefined, uids: UIDS });
    const row = await ledger.db
      .selectFrom('grants')
      .select(['proof', 'next_try_at'])
      .where('id', '=', grantId)
      .executeTakeFirst();
    expect(row).toEqual({ proof: 'refused', next_try_at: null });
    expect(await markRevoking(ledger.db, { grantId, at: seconds(3) })).toBe(false);
    expect(await markRevoking(ledger.db, { grantId: randomUUID(), at: NOW })).toBe(false);
  });

  it('count tries that failed, until nothing is left to do', async () => {
    const fail = (error: string) =>
      recordRevocationFailure(ledger.db, { grantId, error, nextTryAt: seconds(90) });
    const tries = () =>
      ledger.db
        .selectFrom('grants')
        .select(['tries', 'last_error', 'next_try_at'])
        .where('id', '=', grantId)
        .executeTakeFirst();
    await fail('cluster: unreachable');
    await fail('cluster: timed-out');
    await endGrant(ledger.db, { grantId, at: seconds(2), proof: 'objects-gone' });
    // It has no outcome, so it is looked at once more, after its lease and the longest call.
    expect(await tries()).toEqual({
      tries: 2,
      last_error: 'cluster: timed-out',
      next_try_at: seconds(90),
    });
    await fail('cluster: cut');
    expect(await tries()).toMatchObject({ tries: 3, last_error: 'cluster: cut' });
    await recordLastLook(ledger.db, grantId);
    await fail('too late');
    expect(await tries()).toEqual({ tries: 3, last_error: 'cluster: cut', next_try_at: null });
  });

  it('are not looked at once more after an end with an outcome, or one that its writer vouches for', async () => {
    await issue(ledger.db, grantId);
    await endGrant(ledger.db, { grantId, at: seconds(2), proof: 'refused' });
    expect(await nextTryAt()).toBeNull();
    const { grant } = await announceBinding(ledger.db, instanceKey);
    grantId = grant.id;
    await endGrant(ledger.db, { grantId, at: seconds(2), proof: 'nothing-made', isFinal: true });
    expect(await nextTryAt()).toBeNull();
  });

  it('are listed until they have ended, oldest first', async () => {
    const older = await announceBinding(ledger.db, instanceKey, {
      grant: { intendedAt: seconds(-5) },
    });
    const ended = await announceBinding(ledger.db, instanceKey);
    await endGrant(ledger.db, { grantId: ended.grant.id, at: NOW, proof: 'refused' });
    await issue(ledger.db, grantId);

    const listed = await listUnfinishedGrantIds(ledger.db, { instanceKey });

    expect(listed).toEqual([older.grant.id, grantId]);
    expect(await read()).toMatchObject({ sealedToken: 'v1.k.aXY.c2VhbGVk', replicaSeenAt: NOW });
    expect(await readGrantForRevocation(ledger.db, randomUUID())).toBeUndefined();
  });

  it('given up by its writer is ordered to end once, and says whether somebody else came first', async () => {
    expect(await markUndoing(ledger.db, { grantId, at: seconds(1) })).toBe(true);
    expect(await markUndoing(ledger.db, { grantId, at: seconds(2) })).toBe(false);
    expect(await read()).toMatchObject({ revokingSince: seconds(1) });

    const other = await announceBinding(ledger.db, instanceKey);
    await markRevoking(ledger.db, { grantId: other.grant.id, at: seconds(1) });
    expect(await markUndoing(ledger.db, { grantId: other.grant.id, at: seconds(2) })).toBe(false);
  });

  it('whose undo failed is unfinished, though it was thought to have ended, and waits for no writer', async () => {
    await markRevoking(ledger.db, { grantId, at: seconds(1) });
    await endGrant(ledger.db, { grantId, at: seconds(2), proof: 'objects-gone' });

    const failure = {
      grantId,
      error: 'cluster: server-error',
      nextTryAt: seconds(9),
      at: seconds(3),
    };
    await recordUndoFailure(ledger.db, failure);

    expect(await read()).toMatchObject({
      endedAt: undefined,
      revokingSince: seconds(1),
      issuingUntil: seconds(3),
      tries: 1,
    });
    expect(await listUnfinishedGrantIds(ledger.db, { instanceKey })).toContain(grantId);
  });

  it('whose issue died are ordered to be undone, and no others', async () => {
    const mark = (now: Date) =>
      inTransaction(ledger.db, (tx) => markDeadIssuesRevoking(tx, { instanceKey, now }));
    const orphaned = await announceBinding(ledger.db, instanceKey);
    const issued = await announceBinding(ledger.db, instanceKey);
    await issue(ledger.db, issued.grant.id);

    expect(await mark(NOW)).toEqual([orphaned.grant.id]);
    expect(await mark(NOW)).toEqual([]);
    await beat(ledger.db, { replicaId, at: seconds(29) });
    expect(await mark(seconds(29.999))).toEqual([]);
    expect(await mark(seconds(30))).toEqual([grantId]);

    expect(await read()).toMatchObject({ revokingSince: seconds(30) });
    expect(await issue(ledger.db, grantId)).toBe(false);
  });

  describe('are refused by the database', () => {
    const change = (values: Record<string, unknown>) =>
      ledger.db.updateTable('grants').set(values).where('id', '=', grantId).execute();

    it.each([
      ['with a token, but no expiry', { sealed_token: 'x' }, 'outcome|token_from_outcome'],
      [
        'with an outcome in parts',
        { sealed_token: 'x', expires_at: NOW, issued_at: NOW, account_uid: 'u' },
        'outcome_as_a_whole',
      ],
      ['ended without proof', { ended_at: NOW, next_try_at: null }, 'end_has_proof'],
      ['with proof, but not ended', { proof: 'refused' }, 'end_has_proof'],
      ['unfinished, but never looked at', { next_try_at: null }, 'unfinished_is_looked_at'],
      ['with half a lease', { leased_until: NOW }, 'lease_has_holder'],
    ])('%s', async (_, values, constraint) => {
      await expect(change(values)).rejects.toThrow(new RegExp(constraint));
    });

    it('ended with a token', async () => {
      await issue(ledger.db, grantId);

      await expect(change({ ended_at: NOW, proof: 'refused' })).rejects.toThrow(
        'token_from_outcome_to_end',
      );
    });

    it('with the name of another, ended or not', async () => {
      const { grant } = await announceBinding(ledger.db, instanceKey);
      await endGrant(ledger.db, { grantId: grant.id, at: NOW, proof: 'refused' });

      await expect(change({ name: grant.name })).rejects.toThrow('grants_name_key');
    });

    it('without their binding, as a binding is without its grant', async () => {
      await expect(change({ binding_id: 'another' })).rejects.toThrow('fkey');
      await expect(
        ledger.db.deleteFrom('grants').where('id', '=', grantId).execute(),
      ).rejects.toThrow('current_grant_exists');
    });
  });
});
