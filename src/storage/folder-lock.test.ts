import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it, onTestFinished } from 'vitest';

import { Secret } from '../domain/secret.ts';
import { FolderInUseError, lockFolder, type LockParts } from './folder-lock.ts';
import { thisProcess } from './process-identity.ts';

const STARTED_AT = new Date('2026-03-01T12:00:00.000Z');

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runtime-broker-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

interface Watched extends LockParts {
  /** How often it looked again. */
  readonly looks: () => number;
}

function parts(changes: Partial<LockParts> = {}): Watched {
  let looks = 0;
  return {
    clock: () => new Date(),
    drawToken: () => crypto.randomUUID(),
    sleep: async () => {
      looks += 1;
      await new Promise(setImmediate);
    },
    ...changes,
    looks: () => looks,
  };
}

const ADDRESSES = { address: 'http://127.0.0.1:8081', publicAddress: 'http://127.0.0.1:8080' };

function lockPath(folder: string): string {
  return join(folder, 'lock.json');
}

function writeLock(folder: string, changes: Readonly<Record<string, unknown>>): void {
  const holder = {
    ...thisProcess(),
    token: 'of-somebody-else',
    startedAt: STARTED_AT.toISOString(),
    address: 'http://127.0.0.1:8081',
    ...changes,
  };
  writeFileSync(lockPath(folder), JSON.stringify(holder));
}

async function refusalOf(taking: Promise<unknown>): Promise<string> {
  const error: unknown = await taking.then(
    () => new Error('it was taken'),
    (thrown: unknown) => thrown,
  );
  return error instanceof FolderInUseError ? error.message : `not refused: ${String(error)}`;
}

async function pidOfDead(): Promise<number> {
  const child = spawn(process.execPath, ['--eval', '']);
  await once(child, 'exit');
  return child.pid ?? 0;
}

describe('the lock of a folder', () => {
  it('is held by one, also within one process, until it is released', async () => {
    const folder = freshFolder();
    const first = await lockFolder(folder, parts());
    expect((statSync(lockPath(folder)).mode & 0o777).toString(8)).toBe('600');

    expect(await refusalOf(lockFolder(folder, parts()))).toContain(`process ${process.pid} on `);

    first.release();
    first.release();
    const second = await lockFolder(folder, parts());
    second.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('names its holder in one sentence', async () => {
    const folder = freshFolder();
    const lock = await lockFolder(folder, parts({ clock: () => STARTED_AT }));
    lock.tellAddresses(ADDRESSES, new Secret('open-sesame-once'));

    expect(await refusalOf(lockFolder(folder, parts()))).toBe(
      `The data folder ${folder} is in use by process ${process.pid} on ${thisProcess().host} ` +
        'since 2026-03-01T12:00:00.000Z, which serves platforms at http://127.0.0.1:8080 and ' +
        'operators at http://127.0.0.1:8081. ' +
        'One process at a time can have it: stop that one, or set RUNTIME_BROKER_DATA_DIR to another folder.',
    );
    lock.release();
  });

  it('of a process that is gone is taken over at once', async () => {
    const folder = freshFolder();
    writeLock(folder, { pid: await pidOfDead() });
    const taking = parts();

    const lock = await lockFolder(folder, taking);

    expect(taking.looks()).toBe(0);
    lock.release();
  });

  it('of a process whose id is another one’s by now is taken over at once', async () => {
    const folder = freshFolder();
    writeLock(folder, { startMark: '1' });
    const taking = parts();

    const lock = await lockFolder(folder, taking);

    expect(taking.looks()).toBe(0);
    lock.release();
  });

  it.each([
    [
      'of another machine',
      JSON.stringify({ ...thisProcess(), place: 'far', token: 'x', startedAt: STARTED_AT }),
    ],
    ['that is damaged', '{"pid": 12'],
    ['that is empty', ''],
    ['that is not JSON of a holder', '[]'],
  ])('%s is taken over once it was watched in vain', async (_, text) => {
    const folder = freshFolder();
    writeFileSync(lockPath(folder), text);
    const taking = parts();

    const lock = await lockFolder(folder, taking);

    // 15 s in looks of 250 ms.
    expect(taking.looks()).toBeGreaterThanOrEqual(60);
    lock.release();
  });

  it('of another machine is refused upon the first sign of life', async () => {
    const folder = freshFolder();
    writeLock(folder, { place: 'elsewhere', host: 'far', pid: 7 });
    const beat = new Date(Date.now() + 3_000);
    const taking = parts({
      sleep: () => {
        utimesSync(lockPath(folder), beat, beat);
        return Promise.resolve();
      },
    });

    expect(await refusalOf(lockFolder(folder, taking))).toContain('process 7 on far');
    expect(existsSync(lockPath(folder))).toBe(true);
  });

  it('that is dead goes to one of many that want it', async () => {
    for (let round = 0; round < 20; round += 1) {
      const folder = freshFolder();
      writeLock(folder, { startMark: '1' });

      const taken = await Promise.allSettled(
        Array.from({ length: 8 }, () => lockFolder(folder, parts())),
      );

      const held = taken.filter(({ status }) => status === 'fulfilled');
      expect(held).toHaveLength(1);
      for (const each of held) if (each.status === 'fulfilled') each.value.release();
    }
  });

  it('is not removed by one that has lost it', async () => {
    const folder = freshFolder();
    const lock = await lockFolder(folder, parts());
    writeLock(folder, {});
    const text = readFileSync(lockPath(folder), 'utf8');

    lock.tellAddresses(ADDRESSES, new Secret('open-sesame-once'));
    lock.release();

    expect(readFileSync(lockPath(folder), 'utf8')).toBe(text);
  });

  it('tells its holder within seconds that it was taken away', async () => {
    const folder = freshFolder();
    const lock = await lockFolder(folder, parts());

    rmSync(lockPath(folder));

    await expect(lock.lost).resolves.toBeUndefined();
    lock.release();
  });
});
