// What the broker writes while it runs: read for when it is ready and where it listens, kept for a file, and searched
// for its last words when it ends before its time.

import { createWriteStream, type WriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';

export interface ReadyFacts {
  readonly publicUrl: string;
}

interface LogLine {
  readonly level?: string;
  readonly msg?: string;
  readonly surface?: string;
  readonly url?: string;
  readonly err?: { readonly message?: string };
}

/** Enough for a fault of the configuration or of the start. */
const TAIL_LINES = 20;

/** They only show what it was at. */
const FALLBACK_LINES = 3;

const GRAVE = ['error', 'fatal'];

export class BrokerLog {
  /** Resolves once requests are served. */
  readonly ready: Promise<ReadyFacts>;
  readonly #ready = Promise.withResolvers<ReadyFacts>();
  readonly #tail: string[] = [];
  readonly #early: string[] = [];
  #publicUrl = '';
  #file: WriteStream | undefined;

  constructor(streams: readonly Readable[]) {
    this.ready = this.#ready.promise;
    for (const stream of streams) {
      createInterface({ input: stream }).on('line', (line) => this.#take(line));
    }
  }

  /** All of it goes there, what was written before too. */
  keepIn(path: string): void {
    this.#file = createWriteStream(path, { flags: 'w', mode: 0o600 });
    for (const line of this.#early.splice(0)) this.#file.write(`${line}\n`);
  }

  close(): void {
    this.#file?.end();
  }

  /** Sentences for a person, and what the log calls an error; where there is neither, the last lines. */
  lastWords(): readonly string[] {
    const words = this.#tail.map(wordsOf).filter((text) => text !== undefined);
    return words.length > 0 ? words : this.#tail.slice(-FALLBACK_LINES);
  }

  #take(line: string): void {
    this.#tail.push(line);
    if (this.#tail.length > TAIL_LINES) this.#tail.shift();
    if (this.#file === undefined) this.#early.push(line);
    else this.#file.write(`${line}\n`);
    const { msg, surface, url } = parsed(line) ?? {};
    if (msg === 'listening' && surface === 'public') this.#publicUrl = url ?? '';
    if (msg === 'ready') this.#ready.resolve({ publicUrl: this.#publicUrl });
  }
}

/** @returns undefined for a line of the log that tells of nothing grave */
function wordsOf(line: string): string | undefined {
  const entry = parsed(line);
  if (entry === undefined) return line;
  if (!GRAVE.includes(entry.level ?? '')) return undefined;
  return [entry.msg, entry.err?.message].filter((part) => part !== undefined).join(': ');
}

/** @returns undefined for what is no line of the log: faults of the configuration are plain sentences */
function parsed(line: string): LogLine | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return undefined;
  }
}
