// Operations: claims, the fence of a claim that was lost, and what wakes them when a wake-up was lost.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ClaimedOperation, OperationClaim } from '../../../src/storage/operations.ts';
import {
  advanceOperation,
  cancelOperation,
  claimOperation,
  endOperation,
  findOperationOfInstance,
  listOpenOperations,
  postponeOperation,
} from '../../../src/storage/operations.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import { findInstanceByKey, markInstanceDeleted } from '../../../src/storage/instances.ts';
import { beat, removeReplica } from '../../../src/storage/replicas.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import {
  type Ledger,
  makeInstance,
  NOW,
  openLedger,
  seconds,
  startOperation,
  findOperation,
} from './ledger.ts';

describeOnEngines('operations', {}, (engine) => {
  let ledger: Ledger;
  let id: string;
  let instanceKey: string;
  let osbId: string;

  beforeAll(async () => {
    ledger = await openLedger(engine);
  });
  afterAll(() => ledger.close());

  beforeEach(async () => {
    const made = await makeInstance(ledger.db, {}, { state: 'in progress' });
    ({ operationId: id, key: instanceKey, id: osbId } = made);
  });

  async function aliveReplica(seenAt: Date = NOW): Promise<string> {
    const replicaId = randomUUID();
    await beat(ledger.db, { replicaId, at: seenAt });
    return replicaId;
  }

  async function claim(
    replicaId: string,
    { now = NOW, leasedUntil = seconds(60) } = {},
  ): Promise<ClaimedOperation | undefined> {
    return await claimOperation(ledger.db, { id, replicaId, now, leasedUntil });
  }

  async function claimed(): Promise<OperationClaim> {
    const claim_ = await claim(await aliveReplica());
    if (claim_ === undefined) {
      throw new Error('nothing was claimed');
    }
    return claim_.claim;
  }

  it('are claimed by one of ten that try at once', async () => {
    const replicas = await Promise.all(Array.from({ length: 10 }, () => aliveReplica()));

    const claims = await Promise.all(replicas.map((replicaId) => claim(replicaId)));

    const won = claims.filter((each) => each !== undefined);
    expect(won).toHaveLength(1);
    expect(won[0]?.operation).toMatchObject({ id, type: 'provision', state: 'in progress' });
  });

  it('are not claimed before they are due', async () => {
    const replicaId = await aliveReplica(seconds(-1));

    expect(await claim(replicaId, { now: seconds(-0.001) })).toBeUndefined();
    expect(await claim(replicaId, { now: NOW })).toBeDefined();
  });

  it('are not claimed a second time by the replica that works on them', async () => {
    const replicaId = await aliveReplica();
    await claim(replicaId);

    expect(await claim(replicaId)).toBeUndefined();
  });

  it('are claimed anew once the lease has lapsed, which fences the earlier claim', async () => {
    const first = await claim(await aliveReplica(seconds(60)));
    const second = await aliveReplica(seconds(60));

    expect(await claim(second, { now: seconds(59.999) })).toBeUndefined();
    const later = await claim(second, { now: seconds(60), leasedUntil: seconds(120) });

    expect(later).toBeDefined();
    const stale = first?.claim ?? { id, fence: -1 };
    const write = { claim: stale, description: 'stale', at: seconds(61) };
    expect(
      await advanceOperation(ledger.db, { ...write, step: 's', leasedUntil: seconds(99) }),
    ).toBe(false);
    expect(await endOperation(ledger.db, { ...write, state: 'failed' })).toBe(false);
    expect(
      await postponeOperation(ledger.db, { ...write, attempt: 1, nextRunAt: seconds(99) }),
    ).toBe(false);
    expect(await findOperation(ledger.db, id)).toMatchObject({ description: 'accepted' });
  });

  it.each([
    ['stays with a replica that was seen six seconds ago', -6, false],
    ['is free once its replica was last seen longer ago', -6.001, true],
  ])('have a lease that %s', async (_, seenAgo, isFree) => {
    const holder = await aliveReplica(seconds(seenAgo));
    await claim(holder, { now: NOW });

    const next = await claim(await aliveReplica());

    expect(next !== undefined).toBe(isFree);
  });

  it('are free at once when their replica has stopped in order', async () => {
    const holder = await aliveReplica();
    await claim(holder);

    await removeReplica(ledger.db, holder);

    expect(await claim(await aliveReplica())).toBeDefined();
  });

  it('advance step by step under one claim', async () => {
    const mine = await claimed();
    await postponeOperation(ledger.db, {
      claim: mine,
      attempt: 3,
      nextRunAt: NOW,
      description: 'again',
    });
    const again = await claimed();

    const advanced = await advanceOperation(ledger.db, {
      claim: again,
      step: 'check-rights',
      at: seconds(2),
      description: 'Checking rights.',
      leasedUntil: seconds(90),
    });

    expect(advanced).toBe(true);
    expect(await findOperation(ledger.db, id)).toMatchObject({
      step: 'check-rights',
      attempt: 0,
      nextRunAt: seconds(2),
      description: 'Checking rights.',
    });
    expect(await claim(await aliveReplica(), { now: seconds(3) })).toBeUndefined();
  });

  it('are free again once postponed, from the time that was named', async () => {
    const postponed = await postponeOperation(ledger.db, {
      claim: await claimed(),
      attempt: 2,
      nextRunAt: seconds(5),
      description: 'The cluster does not answer yet.',
    });

    expect(postponed).toBe(true);
    const replicaId = await aliveReplica(seconds(5));
    expect(await claim(replicaId, { now: seconds(4) })).toBeUndefined();
    expect((await claim(replicaId, { now: seconds(5) }))?.operation).toMatchObject({
      attempt: 2,
      description: 'The cluster does not answer yet.',
    });
  });

  it('end once', async () => {
    const mine = await claimed();
    await advanceOperation(ledger.db, {
      claim: mine,
      step: 'last',
      at: NOW,
      description: 'Nearly.',
      leasedUntil: seconds(60),
    });
    const end = { claim: mine, description: 'Done.', at: seconds(3) };

    expect(await endOperation(ledger.db, { ...end, state: 'succeeded' })).toBe(true);
    expect(await endOperation(ledger.db, { ...end, state: 'failed' })).toBe(false);

    expect(await findOperation(ledger.db, id)).toMatchObject({
      state: 'succeeded',
      step: undefined,
      description: 'Done.',
    });
    expect(await claim(await aliveReplica(seconds(600)), { now: seconds(600) })).toBeUndefined();
  });

  it('can be cancelled whoever works on them, and fence that one', async () => {
    const mine = await claimed();
    const cancel = () =>
      inTransaction(ledger.db, (tx) =>
        cancelOperation(tx, { id, description: 'Cancelled.', at: seconds(1) }),
      );

    expect(await cancel()).toBe(true);
    expect(await cancel()).toBe(false);

    const write = { claim: mine, description: 'went on', at: seconds(2) };
    expect(await endOperation(ledger.db, { ...write, state: 'succeeded' })).toBe(false);
    expect(
      await advanceOperation(ledger.db, { ...write, step: 's', leasedUntil: seconds(9) }),
    ).toBe(false);
    expect(await findOperation(ledger.db, id)).toMatchObject({
      state: 'failed',
      description: 'Cancelled.',
    });
  });

  it('are one in progress for an instance, and the next only after its end', async () => {
    await expect(startOperation(ledger.db, instanceKey, 'deprovision')).rejects.toThrow(
      'operations_one_in_progress',
    );

    await inTransaction(ledger.db, async (tx) => {
      await cancelOperation(tx, { id, description: 'Cancelled.', at: NOW });
      await startOperation(tx, instanceKey, 'deprovision');
    });

    const found = await findInstanceByKey(ledger.db, instanceKey);
    expect(found?.latest).toMatchObject({ type: 'deprovision', state: 'in progress' });
  });

  it('are found by their id over all records that had the id of the instance', async () => {
    await cancelAndDelete();
    const reused = await makeInstance(ledger.db, { id: osbId }, { state: 'in progress' });
    const ask = (operationId: string, instanceId = osbId) =>
      findOperationOfInstance(ledger.db, { instanceId, operationId });

    expect(await ask(id)).toMatchObject({ id, instanceKey });
    expect(await ask(reused.operationId)).toMatchObject({ instanceKey: reused.key });
    expect(await ask('no such operation')).toBeUndefined();
    expect(await ask('with\0NUL')).toBeUndefined();
    expect(await ask(id, 'another instance')).toBeUndefined();
    expect(await findOperation(ledger.db, 'no such operation')).toBeUndefined();
  });

  it('are listed when they are due and nobody works on them, longest due first', async () => {
    await ledger.db
      .updateTable('operations')
      .set({ next_run_at: seconds(9_000) })
      .where('id', '!=', id)
      .execute();
    const other = await makeInstance(ledger.db, {}, { state: 'in progress' });
    const list = async (now: Date, limit = 10) =>
      (await listOpenOperations(ledger.db, { now, limit })).map((operation) => operation.id);
    await postponeOperation(ledger.db, {
      claim: await claimed(),
      attempt: 1,
      nextRunAt: seconds(10),
      description: 'later',
    });

    expect(await list(seconds(9))).toEqual([other.operationId]);
    expect(await list(seconds(10))).toEqual([other.operationId, id]);
    expect(await list(seconds(10), 1)).toEqual([other.operationId]);
    expect(await listOpenOperations(ledger.db, { now: NOW, limit: 10 })).toEqual([
      { id: other.operationId, nextRunAt: NOW },
    ]);

    await claim(await aliveReplica(seconds(10)), { now: seconds(10), leasedUntil: seconds(70) });
    expect(await list(seconds(10))).toEqual([other.operationId]);
    await inTransaction(ledger.db, (tx) =>
      cancelOperation(tx, { id: other.operationId, description: 'x', at: NOW }),
    );
    expect(await list(seconds(10))).toEqual([]);
  });

  async function cancelAndDelete(): Promise<void> {
    await inTransaction(ledger.db, async (tx) => {
      await cancelOperation(tx, { id, description: 'Cancelled.', at: NOW });
      await markInstanceDeleted(tx, instanceKey, { at: NOW });
    });
  }
});
