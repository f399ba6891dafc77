// One process at a time in a data folder: a second one on PGlite's files would lose what the first one writes, and
// neither would notice. The lock is a file that names its holder; who the processes of this machine are is told by
// process-identity.ts.
import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../domain/clock.ts';
import { isJsonObject, type JsonValue } from '../domain/json.ts';
import { Secret } from '../domain/secret.ts';
import { lifeOf, type ProcessIdentity, thisProcess } from './process-identity.ts';

const LOCK = 'lock.json';

export interface LockHolder extends ProcessIdentity {
  /** Tells this lock from all others. */
  readonly token: string;
  readonly startedAt: Date;
  /** Its operator listener, where it can be asked; undefined before it listens. */
  readonly address: string | undefined;
  /** Its public listener, by which people know it. */
  readonly publicAddress: string | undefined;
  /** What it answers commands to; undefined before it listens. */
  readonly commandSecret: Secret | undefined;
}

interface ToldAddresses {
  readonly address: string;
  readonly publicAddress: string;
}

export interface FolderLock {
  /** For the sentence that a second process is refused with, and for commands that ask the holder. */
  tellAddresses(addresses: ToldAddresses, commandSecret: Secret): void;
  /** Resolves when somebody has removed or replaced the lock: whoever did may be writing now. */
  readonly lost: Promise<void>;
  /** The folder may be another's from here on. A repeat does nothing. */
  release(): void;
}

/** A second process is refused with this; the message is the sentence for its user. */
export class FolderInUseError extends Error {
  /** Undefined where it has written no name. */
  readonly holder: LockHolder | undefined;

  constructor(folder: string, holder: LockHolder | undefined) {
    super(
      `The data folder ${folder} is in use by ${describe(holder)}. One process at a time can have it: stop that one, or set RUNTIME_BROKER_DATA_DIR to another folder.`,
    );
    this.name = 'FolderInUseError';
    this.holder = holder;
  }
}

function describe(holder: LockHolder | undefined): string {
  if (holder === undefined) {
    return 'a process that has written no name';
  }
  const { pid, host, startedAt, address, publicAddress } = holder;
  const served = [
    ...(publicAddress === undefined ? [] : [`platforms at ${publicAddress}`]),
    ...(address === undefined ? [] : [`operators at ${address}`]),
  ];
  const where = served.length === 0 ? '' : `, which serves ${served.join(' and ')}`;
  return `process ${pid} on ${host} since ${startedAt.toISOString()}${where}`;
}

export interface LockParts {
  readonly clock: Clock;
  readonly drawToken: () => string;
  readonly sleep: (delayMs: number) => Promise<void>;
}

/** A holder shows that often that it lives. */
const BEAT_MS = 3_000;

/**
 * A holder in another container, on another machine, or of a damaged lock cannot be looked up by its process id, so it
 * is watched: for five beats, since opening a database can hold back one or two.
 */
const WATCH_MS = 15_000;

const LOOK_EVERY_MS = 250;

/**
 * Takes the lock of a folder that is there. A lock whose holder is dead is taken over, at once where its process can be
 * looked up, else after it was watched in vain.
 * @throws FolderInUseError
 */
export async function lockFolder(folder: string, parts: LockParts): Promise<FolderLock> {
  const path = join(folder, LOCK);
  const holder: LockHolder = {
    ...thisProcess(),
    token: parts.drawToken(),
    startedAt: parts.clock(),
    address: undefined,
    publicAddress: undefined,
    commandSecret: undefined,
  };
  while (!tryToWrite(path, holder)) {
    const found = look(path);
    if (found !== undefined) {
      await demandDead(found, { folder, path, sleep: parts.sleep });
      removeStale(path, { stale: found, token: holder.token });
    }
  }
  return new HeldLock(path, holder, parts.clock);
}

interface SeenLock {
  readonly text: string;
  readonly holder: LockHolder | undefined;
  readonly beatenAtMs: number;
}

function tryToWrite(path: string, holder: LockHolder): boolean {
  try {
    writeFileSync(path, toText(holder), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** The one place that writes the secret: into a file of its owner alone. */
function toText({ commandSecret, ...holder }: LockHolder): string {
  return JSON.stringify({ ...holder, commandSecret: commandSecret?.reveal() });
}

/** @returns undefined where there is none (any more) */
function look(path: string): SeenLock | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return { text, holder: parse(text), beatenAtMs: statSync(path).mtimeMs };
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** @returns undefined where it is damaged, or was not written to its end yet */
function parse(text: string): LockHolder | undefined {
  const fields = fieldsOf(text);
  const { pid, host, place, startMark, token, startedAt, address } = fields;
  const commandSecret = textOf(fields['commandSecret']);
  const started = new Date(textOf(startedAt) ?? Number.NaN);
  return typeof pid === 'number' && pid > 0 && !Number.isNaN(started.getTime())
    ? {
        pid,
        host: textOf(host) ?? 'an unknown host',
        place: textOf(place) ?? '',
        startMark: textOf(startMark),
        token: textOf(token) ?? '',
        startedAt: started,
        address: textOf(address),
        publicAddress: textOf(fields['publicAddress']),
        commandSecret: commandSecret === undefined ? undefined : new Secret(commandSecret),
      }
    : undefined;
}

function fieldsOf(text: string): Readonly<Record<string, JsonValue | undefined>> {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

interface Watch {
  readonly folder: string;
  readonly path: string;
  readonly sleep: (delayMs: number) => Promise<void>;
}

/** Returns when the holder is dead, or its lock is gone. */
async function demandDead(found: SeenLock, { folder, path, sleep }: Watch): Promise<void> {
  for (let watchedMs = 0; watchedMs <= WATCH_MS; watchedMs += LOOK_EVERY_MS) {
    const now = look(path);
    const life = now?.holder === undefined ? 'unknown' : lifeOf(now.holder);
    if (now === undefined || life === 'dead') {
      return;
    }
    if (life === 'alive' || now.beatenAtMs !== found.beatenAtMs) {
      throw new FolderInUseError(folder, now.holder);
    }
    await sleep(LOOK_EVERY_MS);
  }
}

/** Of several processes that found the same dead lock one takes it away; the others find it gone. */
function removeStale(
  path: string,
  { stale, token }: { readonly stale: SeenLock; readonly token: string },
): void {
  const aside = `${path}.${token}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return;
    throw error;
  }
  const taken = readFileSync(aside, 'utf8');
  rmSync(aside);
  if (taken !== stale.text) {
    putBack(path, taken);
  }
}

/** Between the look and the move another process has taken over: it goes on with the lock that it has written. */
function putBack(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    // A third one was faster; the holder finds that its lock is lost.
    if (!isCode(error, 'EEXIST')) throw error;
  }
}

class HeldLock implements FolderLock {
  readonly lost: Promise<void>;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #beat: NodeJS.Timeout;
  #holder: LockHolder;

  constructor(path: string, holder: LockHolder, clock: Clock) {
    this.#path = path;
    this.#holder = holder;
    this.#clock = clock;
    const lost = Promise.withResolvers<void>();
    this.lost = lost.promise;
    this.#beat = setInterval(() => this.#showLife(lost.resolve), BEAT_MS).unref();
  }

  tellAddresses(addresses: ToldAddresses, commandSecret: Secret): void {
    this.#holder = { ...this.#holder, ...addresses, commandSecret };
    if (this.#isOurs()) writeFileSync(this.#path, toText(this.#holder));
  }

  release(): void {
    clearInterval(this.#beat);
    if (this.#isOurs()) rmSync(this.#path, { force: true });
  }

  #showLife(loseIt: () => void): void {
    if (!this.#isOurs()) {
      clearInterval(this.#beat);
      loseIt();
      return;
    }
    const now = this.#clock();
    utimesSync(this.#path, now, now);
  }

  #isOurs(): boolean {
    return look(this.#path)?.holder?.token === this.#holder.token;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
