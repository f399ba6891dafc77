// Bindings and their current grant: announced and deleted as one, read with everything that is decided on.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { findBinding, readBindFacts } from '../../../src/storage/bind-facts.ts';
import {
  announceGrant,
  endBindingsOfInstance,
  markBindingDeleted,
} from '../../../src/storage/bindings.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import {
  endGrant,
  listUnfinishedGrantIds,
  markRevoking,
  readGrantForRevocation,
} from '../../../src/storage/grants.ts';
import { markInstanceDeleted } from '../../../src/storage/instances.ts';
import { beat } from '../../../src/storage/replicas.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import {
  announceBinding,
  issue,
  type Ledger,
  makeInstance,
  newBinding,
  newGrant,
  NOW,
  openLedger,
  seconds,
  UIDS,
} from './ledger.ts';

describeOnEngines('bindings', {}, (engine) => {
  let ledger: Ledger;
  let instanceKey: string;
  let instanceId: string;

  beforeAll(async () => {
    ledger = await openLedger(engine);
  });
  afterAll(() => ledger.close());

  beforeEach(async () => {
    ({ key: instanceKey, id: instanceId } = await makeInstance(ledger.db));
  });

  const facts = (bindingId: string, now = NOW) =>
    readBindFacts(ledger.db, { instanceKey, bindingId, now });
  const find = (bindingId: string) => findBinding(ledger.db, { instanceId, bindingId });

  it('are announced with the grant that is to keep them', async () => {
    const replicaId = randomUUID();
    await beat(ledger.db, { replicaId, at: seconds(-1) });
    const { binding, grant } = await announceBinding(ledger.db, instanceKey, {
      binding: { id: 'b/1', expirationSeconds: 900, createdBy: 'me@example.com sap.ids' },
      grant: { replicaId, namespace: 'kyma-system', issuingUntil: seconds(30) },
    });

    const found = await find(binding.id);

    expect(found).toMatchObject({
      instance: { key: instanceKey },
      latest: { type: 'provision', state: 'succeeded' },
      sealedToken: undefined,
    });
    expect(found?.binding).toEqual({
      instanceKey,
      id: 'b/1',
      expirationSeconds: 900,
      createdBy: 'me@example.com sap.ids',
      createdAt: NOW,
      deletedAt: undefined,
      grant: {
        id: grant.id,
        name: grant.name,
        instanceKey,
        bindingId: 'b/1',
        namespace: 'kyma-system',
        intendedAt: NOW,
        issuingUntil: seconds(30),
        replicaSeenAt: seconds(-1),
        uids: undefined,
        issuedAt: undefined,
        expiresAt: undefined,
        revokingSince: undefined,
        endedAt: undefined,
      },
    });
    expect(await facts(binding.id)).toEqual({
      ...found,
      // The end that was asked for, as long as the cluster has granted none.
      slots: { taken: 1, nextFreeAt: seconds(900), firstByDefaultAt: undefined },
      deadIssues: 0,
    });
  });

  it('that are being issued for the default lifetime take a slot from their announcement on', async () => {
    for (const announced of [-3, -5, -4]) {
      await announceBinding(ledger.db, instanceKey, { grant: { intendedAt: seconds(announced) } });
    }
    await announceBinding(ledger.db, instanceKey, { binding: { expirationSeconds: 1200 } });

    expect((await facts('any'))?.slots).toEqual({
      taken: 4,
      nextFreeAt: seconds(1200),
      firstByDefaultAt: seconds(-5),
    });
  });

  it('carry the sealed token and the outcome once issued', async () => {
    const { binding, grant } = await announceBinding(ledger.db, instanceKey);
    await issue(ledger.db, grant.id, { expiresAt: seconds(600) });

    const found = await find(binding.id);

    expect(found?.sealedToken).toBe('v1.k.aXY.c2VhbGVk');
    expect(found?.binding).toMatchObject({ expirationSeconds: undefined });
    expect(found?.binding?.grant).toMatchObject({
      uids: UIDS,
      issuedAt: NOW,
      expiresAt: seconds(600),
      replicaSeenAt: undefined,
    });
    expect((await facts(binding.id))?.slots).toEqual({
      taken: 1,
      nextFreeAt: seconds(600),
      firstByDefaultAt: undefined,
    });
  });

  it('are told apart from those of another instance with the same id', async () => {
    const other = await makeInstance(ledger.db);
    const { binding } = await announceBinding(ledger.db, other.key, { binding: { id: 'same' } });

    expect(await find(binding.id)).toMatchObject({ binding: undefined, sealedToken: undefined });
    expect(await facts('same')).toMatchObject({
      binding: undefined,
      slots: { taken: 0, nextFreeAt: undefined, firstByDefaultAt: undefined },
      deadIssues: 0,
    });
  });

  it('have no facts where there is no instance', async () => {
    expect(
      await readBindFacts(ledger.db, { instanceKey: randomUUID(), bindingId: 'b', now: NOW }),
    ).toBeUndefined();
    expect(await findBinding(ledger.db, { instanceId: 'nobody', bindingId: 'b' })).toBeUndefined();
  });

  it('are found of the instance deleted last where none has the id now', async () => {
    const { binding } = await announceBinding(ledger.db, instanceKey);
    await markInstanceDeleted(ledger.db, instanceKey, { at: seconds(1) });

    expect((await find(binding.id))?.binding?.id).toBe(binding.id);

    await makeInstance(ledger.db, { id: instanceId });
    expect(await find(binding.id)).toMatchObject({ binding: undefined });
  });

  it('are made anew with a new grant, and the old grant stays as it was', async () => {
    const first = await announceBinding(ledger.db, instanceKey, {
      binding: { expirationSeconds: 600 },
    });
    await deleteBinding(first.binding.id, first.grant.id);
    await endGrant(ledger.db, { grantId: first.grant.id, at: seconds(2), proof: 'refused' });
    const grant = newGrant({ intendedAt: seconds(5), issuingUntil: seconds(35) });
    const binding = newBinding(instanceKey, {
      id: first.binding.id,
      expirationSeconds: 1200,
      createdBy: 'another',
    });

    await inTransaction(ledger.db, (tx) => announceGrant(tx, { binding, grant }));

    expect((await find(binding.id))?.binding).toMatchObject({
      expirationSeconds: 1200,
      createdBy: 'another',
      createdAt: seconds(5),
      deletedAt: undefined,
      grant: { id: grant.id, endedAt: undefined },
    });
    expect(await readGrantForRevocation(ledger.db, first.grant.id)).toMatchObject({
      endedAt: seconds(2),
      bindingId: binding.id,
    });
  });

  it('are not announced at all where the name of the grant was used before', async () => {
    const used = await announceBinding(ledger.db, instanceKey);

    await expect(
      announceBinding(ledger.db, instanceKey, {
        binding: { id: 'never' },
        grant: { name: used.grant.name },
      }),
    ).rejects.toThrow('grants_name_key');

    expect((await find('never'))?.binding).toBeUndefined();
  });

  it('are deleted with the order to end their grant, and a repeat keeps the times', async () => {
    const { binding, grant } = await announceBinding(ledger.db, instanceKey);
    await issue(ledger.db, grant.id);

    expect(await deleteBinding(binding.id, grant.id, seconds(3))).toBe(true);
    expect(await deleteBinding(binding.id, grant.id, seconds(4))).toBe(true);

    expect((await find(binding.id))?.binding).toMatchObject({
      deletedAt: seconds(3),
      grant: { revokingSince: seconds(3), endedAt: undefined },
    });
  });

  it('are not deleted when they have another grant by now', async () => {
    const { binding, grant } = await announceBinding(ledger.db, instanceKey);

    expect(await deleteBinding(binding.id, randomUUID())).toBe(false);
    expect(await deleteBinding('unknown', grant.id)).toBe(false);

    expect((await find(binding.id))?.binding).toMatchObject({
      deletedAt: undefined,
      grant: { revokingSince: undefined },
    });
  });

  it('are forgotten by a deletion after their grant has ended', async () => {
    const { binding, grant } = await announceBinding(ledger.db, instanceKey);
    await issue(ledger.db, grant.id, { expiresAt: seconds(1) });
    await endGrant(ledger.db, { grantId: grant.id, at: seconds(2), proof: 'refused' });

    expect(await deleteBinding(binding.id, grant.id, seconds(3))).toBe(true);

    expect((await find(binding.id))?.binding).toMatchObject({
      deletedAt: seconds(3),
      grant: { revokingSince: undefined, endedAt: seconds(2) },
    });
  });

  it('end all at once with their instance, grants of earlier attempts included', async () => {
    const live = await announceBinding(ledger.db, instanceKey);
    await issue(ledger.db, live.grant.id);
    const issuing = await announceBinding(ledger.db, instanceKey);
    const gone = await announceBinding(ledger.db, instanceKey);
    await deleteBinding(gone.binding.id, gone.grant.id, seconds(1));
    await endGrant(ledger.db, { grantId: gone.grant.id, at: seconds(2), proof: 'refused' });
    const remade = newGrant();
    await inTransaction(ledger.db, (tx) =>
      announceGrant(tx, { binding: live.binding, grant: remade }),
    );
    const other = await makeInstance(ledger.db);
    const untouched = await announceBinding(ledger.db, other.key);

    await inTransaction(ledger.db, (tx) =>
      endBindingsOfInstance(tx, { instanceKey, at: seconds(9) }),
    );

    const ids = await listUnfinishedGrantIds(ledger.db, { instanceKey });
    const unfinished = await Promise.all(ids.map((id) => readGrantForRevocation(ledger.db, id)));
    expect(new Map(unfinished.map((grant) => [grant?.id, grant?.revokingSince]))).toEqual(
      new Map([
        [live.grant.id, seconds(9)],
        [issuing.grant.id, seconds(9)],
        [remade.id, seconds(9)],
      ]),
    );
    expect((await find(live.binding.id))?.binding?.deletedAt).toEqual(seconds(9));
    expect((await find(issuing.binding.id))?.binding?.deletedAt).toEqual(seconds(9));
    expect((await find(gone.binding.id))?.binding).toMatchObject({
      deletedAt: seconds(1),
      grant: { revokingSince: seconds(1), endedAt: seconds(2) },
    });
    expect(await readGrantForRevocation(ledger.db, untouched.grant.id)).toMatchObject({
      revokingSince: undefined,
    });
  });

  it('keep the first order to end them when their instance ends too', async () => {
    const { grant } = await announceBinding(ledger.db, instanceKey);
    await markRevoking(ledger.db, { grantId: grant.id, at: seconds(1) });

    await inTransaction(ledger.db, (tx) =>
      endBindingsOfInstance(tx, { instanceKey, at: seconds(9) }),
    );

    expect(await readGrantForRevocation(ledger.db, grant.id)).toMatchObject({
      revokingSince: seconds(1),
    });
  });

  function deleteBinding(bindingId: string, grantId: string, at = NOW): Promise<boolean> {
    return markBindingDeleted(ledger.db, { instanceKey, bindingId, grantId, at });
  }
});
