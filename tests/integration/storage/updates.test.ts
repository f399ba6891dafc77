// What an operation is to change: kept with it, sealed where it is secret, erased with its end; and what becomes of an
// instance by it.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { rotateKeys } from '../../../src/broker/rotate-keys.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import {
  applyChange,
  changeAccounts,
  detachCluster,
  nameRuntime,
} from '../../../src/storage/instance-changes.ts';
import {
  attachCluster,
  findInstanceByKey,
  readSealedAccess,
} from '../../../src/storage/instances.ts';
import {
  cancelOperation,
  insertOperation,
  newAccessPlace,
  readNewAccess,
} from '../../../src/storage/operations.ts';
import { Sealer, type SealingKey } from '../../../src/storage/sealing.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { recordSecret } from '../../support/leak-record.ts';
import { finishOperation, type Ledger, makeInstance, NOW, openLedger, seconds } from './ledger.ts';

const CHANGE = { parameters: { name: 'new', list: [1, null] }, accounts: { userId: 'u' } };

function drawKey(id: string): SealingKey {
  const key = randomBytes(32);
  recordSecret('sealing key', key.toString('base64'));
  return { id, key: new Secret<Uint8Array>(key) };
}

describeOnEngines('an update in the ledger', {}, (engine) => {
  let ledger: Ledger;
  let key: string;
  let id: string;

  beforeAll(async () => {
    ledger = await openLedger(engine);
  });
  afterAll(() => ledger.close());

  beforeEach(async () => {
    const accounts = { globalAccountId: 'ga', subaccountId: 'sa' };
    const made = await makeInstance(ledger.db, { accounts, sealedAccess: 'old', region: 'eu' });
    key = made.key;
    id = `update of ${key}`;
  });

  async function start(sealedAccess?: string): Promise<void> {
    await insertOperation(ledger.db, {
      id,
      instanceKey: key,
      type: 'update',
      description: 'accepted',
      deadline: seconds(300),
      createdAt: NOW,
      change: CHANGE,
      sealedAccess,
    });
  }

  it('is read as it was written, and the access beside it', async () => {
    await start('sealed');
    expect((await findInstanceByKey(ledger.db, key))?.latest).toMatchObject({ id, change: CHANGE });
    expect(await readNewAccess(ledger.db, id)).toBe('sealed');
    expect(await readNewAccess(ledger.db, 'nobody')).toBeUndefined();
  });

  it.each(['succeeded', 'failed'] as const)(
    'that has %s holds no access any more',
    async (state) => {
      await start('sealed');
      await finishOperation(ledger.db, id, state);
      expect(await readNewAccess(ledger.db, id)).toBeUndefined();
      expect((await findInstanceByKey(ledger.db, key))?.latest).toMatchObject({ change: CHANGE });
    },
  );

  it('that is cancelled holds no access any more', async () => {
    await start('sealed');
    const end = { id, description: 'cancelled', at: NOW };
    await inTransaction(ledger.db, (tx) => cancelOperation(tx, end));
    expect(await readNewAccess(ledger.db, id)).toBeUndefined();
  });

  it('comes under another key as everything that is sealed does', async () => {
    const [old, current] = [drawKey('old'), drawKey('current')];
    const place = newAccessPlace(id);
    await start(new Sealer([old]).seal(new Secret('access'), place));

    const sealer = new Sealer([current, old]);
    const { signal } = new AbortController();
    const { resealed } = await rotateKeys({ db: ledger.db, sealer }, { signal });

    expect(resealed.accesses).toBe(1);
    const sealed = await readNewAccess(ledger.db, id);
    expect(new Sealer([current]).open(sealed ?? '', place).reveal()).toBe('access');
    await finishOperation(ledger.db, id, 'failed');
  });

  it('changes what it names, and nothing else', async () => {
    const change = { ...CHANGE, name: 'new', region: undefined, sealedAccess: undefined, at: NOW };
    await inTransaction(ledger.db, (tx) => applyChange(tx, key, change));
    const accounts = { globalAccountId: 'ga', subaccountId: 'sa', userId: 'u' };
    const changed = { name: 'new', region: 'eu', parameters: CHANGE.parameters, accounts };
    expect((await findInstanceByKey(ledger.db, key))?.instance).toMatchObject(changed);
    expect(await readSealedAccess(ledger.db, key)).toBe('old');

    const next = { ...change, name: undefined, region: 'us', accounts: {}, sealedAccess: 'new' };
    await inTransaction(ledger.db, (tx) => applyChange(tx, key, next));
    expect((await findInstanceByKey(ledger.db, key))?.instance).toMatchObject({
      ...changed,
      region: 'us',
    });
    expect(await readSealedAccess(ledger.db, key)).toBe('new');
  });

  it('of accounts keeps those that are not given', async () => {
    await changeAccounts(ledger.db, key, { accounts: { subaccountId: 'moved' }, at: NOW });
    expect((await findInstanceByKey(ledger.db, key))?.instance.accounts).toEqual({
      globalAccountId: 'ga',
      subaccountId: 'moved',
    });
  });

  it('gives an instance another runtime, and takes its cluster away', async () => {
    const cluster = {
      uid: 'uid',
      server: 'https://example.org',
      certificateAuthorityData: 'Y2E=',
      tlsServerName: 'name',
    };
    await attachCluster(ledger.db, key, { cluster, at: NOW });
    await inTransaction(ledger.db, async (tx) => {
      await nameRuntime(tx, key, { runtimeId: 'next', at: NOW });
      await detachCluster(tx, key, { at: NOW });
    });
    expect((await findInstanceByKey(ledger.db, key))?.instance).toMatchObject({
      runtimeId: 'next',
      cluster: undefined,
    });
  });
});
