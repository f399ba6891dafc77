import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { attachCluster, markInstanceDeleted } from '../../../src/storage/instances.ts';
import {
  claimScan,
  findGrantsByName,
  listClustersToScan,
  readScan,
  recordScan,
  reopenGrant,
  scanAtOnce,
} from '../../../src/storage/orphans.ts';
import {
  confirmRestoreOf,
  countSuspectedRestores,
  listSuspectedRestores,
  readRestore,
  suspectRestore,
} from '../../../src/storage/restores.ts';
import { endGrant, recordLastLook } from '../../../src/storage/grants.ts';
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

describeOnEngines('the turns of clusters to be scanned', {}, (engine) => {
  let ledger: Ledger;

  beforeAll(async () => {
    ledger = await openLedger(engine);
  });
  beforeEach(async () => {
    await ledger.db.updateTable('instances').set({ deleted_at: NOW }).execute();
    await ledger.db.deleteFrom('suspected_restores').execute();
  });
  afterAll(() => ledger.close());

  async function attached(uid: string, nextScanAt?: Date): Promise<string> {
    const { key } = await makeInstance(ledger.db);
    const cluster = {
      uid,
      server: 'https://cluster.example',
      certificateAuthorityData: undefined,
      tlsServerName: undefined,
    };
    await attachCluster(ledger.db, key, { cluster, at: NOW });
    await ledger.db
      .updateTable('instances')
      .set({ next_scan_at: nextScanAt ?? null })
      .where('key', '=', key)
      .execute();
    return key;
  }

  const due = (limit = 10) => listClustersToScan(ledger.db, { dueAt: NOW, limit });
  const claim = (clusterUid: string, nextScanAt = seconds(3600)) =>
    claimScan(ledger.db, { clusterUid, nextScanAt }, NOW);

  it('come to those that were never scanned, then to those that wait longest', async () => {
    await attached('late', seconds(0));
    await attached('early', seconds(-50));
    await attached('not yet', seconds(1));
    await attached('never');
    expect(await due()).toEqual(['never', 'early', 'late']);
    expect(await due(2)).toEqual(['never', 'early']);
  });

  it('come to no cluster that nobody has attached any more, or that is gone', async () => {
    await markInstanceDeleted(ledger.db, await attached('deleted'), { at: NOW });
    const gone = await attached('gone');
    await ledger.db
      .updateTable('instances')
      .set({ cluster_gone_at: NOW })
      .where('key', '=', gone)
      .execute();
    await makeInstance(ledger.db);
    expect(await due()).toEqual([]);
    expect(await claim('gone')).toBeUndefined();
    expect(await claim('deleted')).toBeUndefined();
  });

  it('are of a cluster, however many instances have attached it', async () => {
    const first = await attached('shared', seconds(-1));
    const second = await attached('shared');
    expect(await due()).toEqual(['shared']);
    const claimed = await claim('shared');
    expect(claimed?.instances.map(({ key }) => key).toSorted()).toEqual([first, second].toSorted());
    expect(await due()).toEqual([]);
    await attached('shared');
    expect(await due()).toEqual([]);
  });

  it('are given to one of many who try', async () => {
    await attached('wanted', seconds(-1));
    const claims = await Promise.all(Array.from({ length: 5 }, () => claim('wanted')));
    expect(claims.filter((each) => each !== undefined)).toHaveLength(1);
  });

  it('are looked at without being taken', async () => {
    await attached('looked at', seconds(-1));
    const scan = await readScan(ledger.db, { clusterUid: 'looked at', nextScanAt: seconds(9) });
    expect(scan?.instances).toHaveLength(1);
    expect(await due()).toEqual(['looked at']);
  });

  it('keep where a scan stopped, until another one has claimed the cluster', async () => {
    await attached('long', seconds(-1));
    const first = await claim('long');
    expect(first?.position).toBeUndefined();
    const record = (position: string | undefined, nextScanAt: Date) =>
      recordScan(ledger.db, first?.claim ?? { clusterUid: '', nextScanAt: NOW }, {
        position,
        nextScanAt,
      });
    await record('ClusterRole abc', seconds(0));
    const second = await claim('long', seconds(7200));
    expect(second?.position).toBe('ClusterRole abc');
    await record('ClusterRole late', seconds(0));
    expect(await due()).toEqual([]);
    const scan = await readScan(ledger.db, { clusterUid: 'long', nextScanAt: NOW });
    expect(scan?.position).toBe('ClusterRole abc');
  });

  it('come at once when they are called', async () => {
    await attached('called', seconds(3000));
    await scanAtOnce(ledger.db, { clusterUid: 'called', at: NOW });
    expect(await due()).toEqual(['called']);
  });

  it('find grants by name over all instances, with what was recorded of them', async () => {
    const key = await attached('home');
    const { grant: live } = await announceBinding(ledger.db, key);
    await issue(ledger.db, live.id);
    const unknown = `kyma-binding-${randomUUID()}`;
    const found = await findGrantsByName(ledger.db, [live.name, unknown]);
    expect([...found.keys()]).toEqual([live.name]);
    expect(found.get(live.name)).toMatchObject({
      grantId: live.id,
      clusterUid: 'home',
      uids: UIDS,
      hasEnded: false,
      isToBeLookedAt: true,
    });
    expect(await findGrantsByName(ledger.db, [])).toEqual(new Map());
  });

  it('reopen a grant that has ended and is looked at no more, and no other one', async () => {
    const key = await attached('reopened');
    const { grant } = await announceBinding(ledger.db, key);
    const { id } = grant;
    const reopen = () => reopenGrant(ledger.db, { grantId: id, at: seconds(9) });
    expect(await reopen()).toBe(false);
    await endGrant(ledger.db, { grantId: id, at: seconds(1), proof: 'objects-gone' });
    expect(await reopen()).toBe(false);
    await recordLastLook(ledger.db, id);
    expect(await reopen()).toBe(true);
    const row = await ledger.db
      .selectFrom('grants')
      .select(['ended_at', 'proof', 'revoking_since', 'next_try_at'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ ended_at: null, proof: null, next_try_at: seconds(9) });
    expect(row.revoking_since).not.toBeNull();
  });

  it('know of a restore once it is suspected, until it is confirmed', async () => {
    const { db } = ledger;
    const suspect = (change: { confirmedAt?: Date; at?: Date } = {}) =>
      suspectRestore(db, {
        clusterUid: 'restored',
        grantName: 'shows-it',
        confirmedAt: change.confirmedAt,
        at: change.at ?? seconds(0),
      });
    const none = { isSuspected: false, confirmedAt: undefined };
    expect(await readRestore(db, 'restored')).toEqual(none);
    expect(await confirmRestoreOf(db, { clusterUid: 'restored', at: NOW })).toBe(false);

    expect(await suspect()).toBe(true);
    expect(await suspect({ at: seconds(5) })).toBe(false);
    expect(await readRestore(db, 'restored')).toEqual({ ...none, isSuspected: true });
    expect(await readRestore(db, 'another')).toEqual(none);
    expect(await countSuspectedRestores(db)).toBe(1);

    expect(await confirmRestoreOf(db, { clusterUid: 'restored', at: seconds(10) })).toBe(true);
    expect(await confirmRestoreOf(db, { clusterUid: 'restored', at: seconds(11) })).toBe(false);
    const confirmed = { isSuspected: false, confirmedAt: seconds(10) };
    expect(await readRestore(db, 'restored')).toEqual(confirmed);
    expect(await countSuspectedRestores(db)).toBe(0);

    // Judged before the confirmation.
    expect(await suspect({ at: seconds(12) })).toBe(false);
    expect(await suspect({ at: seconds(12), confirmedAt: seconds(10) })).toBe(true);
    expect(await readRestore(db, 'restored')).toEqual({ ...confirmed, isSuspected: true });
    // By a clock that lags behind the one of who found it.
    expect(await confirmRestoreOf(db, { clusterUid: 'restored', at: seconds(11) })).toBe(true);
    expect(await countSuspectedRestores(db)).toBe(0);
  });

  it('name those that are suspected with an instance that has the cluster', async () => {
    const { db } = ledger;
    const key = await attached('named');
    const { id } = await db
      .selectFrom('instances')
      .select('id')
      .where('key', '=', key)
      .executeTakeFirstOrThrow();
    for (const [clusterUid, at] of [
      ['left alone', 2],
      ['named', 1],
    ] as const) {
      const suspicion = { clusterUid, grantName: 'g', confirmedAt: undefined, at: seconds(at) };
      await suspectRestore(db, suspicion);
    }
    expect(await listSuspectedRestores(db, { limit: 5 })).toEqual([
      { clusterUid: 'named', suspectedAt: seconds(1), grantName: 'g', instanceId: id },
      { clusterUid: 'left alone', suspectedAt: seconds(2), grantName: 'g', instanceId: undefined },
    ]);
    expect(await listSuspectedRestores(db, { limit: 1 })).toHaveLength(1);
  });
});
