// Searches texts for secrets, as they are and in the encodings that logs, dumps and URLs put them in. One pass over each
// text, however many secrets there are: every window of eight bytes is looked up by a rolling hash of the secrets' ends.

import { type Recorded, readRecord } from './leak-record.ts';

/** Names kinds only: a report must not leak again what it found. */
export interface Leak {
  readonly secretKind: string;
  readonly outputKind: string;
  /** For instance `as it is`, `base64`. */
  readonly form: string;
}

interface Needle {
  readonly bytes: Buffer;
  readonly secretKind: string;
  readonly form: string;
}

export interface LeakSearch {
  /** Each combination of kinds and form once, however often it occurs. */
  in(output: Recorded): readonly Leak[];
}

/** Bytes of the window: no form of a secret may be shorter (recordSecret asks for eight characters). */
const WINDOW = 8;

/** Multiplier of the rolling hash (the prime of FNV-1a, spreads well over 32 bits) and its power that leaves the window. */
const FACTOR = 16_777_619;
const LEAVING_FACTOR = Array.from({ length: WINDOW }).reduce<number>(
  (power) => Math.imul(power, FACTOR),
  1,
);

/** A table of this many bits' worth of bytes (1 MB, stays in a processor's cache) says "surely not" for nearly all windows. */
const FILTER_BITS = 20;
const FILTER_SHIFT = 32 - FILTER_BITS;

export function searchFor(secrets: readonly Recorded[]): LeakSearch {
  const needles = new Map<number, Needle[]>();
  const filter = new Uint8Array(2 ** FILTER_BITS);
  for (const needle of distinctNeedles(secrets)) {
    const hash = hashOfEnd(needle.bytes);
    filter[hash >>> FILTER_SHIFT] = 1;
    const sameHash = needles.get(hash);
    if (sameHash === undefined) needles.set(hash, [needle]);
    else sameHash.push(needle);
  }
  return { in: (output) => [...leaksIn(output, filter, needles)] };
}

export interface RecordSearch {
  /** Kinds of what was recorded, so that the caller can tell a clean run from one that recorded nothing. */
  readonly secretKinds: readonly string[];
  readonly outputKinds: readonly string[];
  readonly leaks: readonly Leak[];
}

/** Searches all outputs of a record's folder for all its secrets. */
export async function searchRecord(folder: string): Promise<RecordSearch> {
  const secrets: Recorded[] = [];
  for await (const secret of readRecord(folder, 'secrets')) secrets.push(secret);
  const search = searchFor(secrets);
  const outputKinds = new Set<string>();
  const leaks = new Map<string, Leak>();
  for await (const output of readRecord(folder, 'outputs')) {
    outputKinds.add(output.kind);
    for (const leak of search.in(output)) leaks.set(Object.values(leak).join('\n'), leak);
  }
  return {
    secretKinds: [...new Set(secrets.map(({ kind }) => kind))],
    outputKinds: [...outputKinds],
    leaks: [...leaks.values()],
  };
}

function leaksIn(
  output: Recorded,
  filter: Uint8Array,
  needles: ReadonlyMap<number, readonly Needle[]>,
): Iterable<Leak> {
  const haystack = Buffer.from(output.text, 'utf8');
  const found = new Map<string, Leak>();
  let hash = 0;
  for (let at = 0; at < haystack.length; at += 1) {
    const leaving = at < WINDOW ? 0 : (haystack[at - WINDOW] ?? 0);
    hash = (Math.imul(hash, FACTOR) + (haystack[at] ?? 0) - Math.imul(leaving, LEAVING_FACTOR)) | 0;
    if (filter[hash >>> FILTER_SHIFT] === 0) continue;
    for (const { bytes, secretKind, form } of needles.get(hash) ?? []) {
      if (!endsWith(haystack, at + 1, bytes)) continue;
      found.set(`${secretKind}\n${form}`, { secretKind, outputKind: output.kind, form });
    }
  }
  return found.values();
}

function endsWith(haystack: Buffer, end: number, needle: Buffer): boolean {
  const start = end - needle.length;
  return start >= 0 && haystack.compare(needle, 0, needle.length, start, end) === 0;
}

/** The end and not the beginning: tokens and keys of one kind all begin alike. */
function hashOfEnd(bytes: Buffer): number {
  let hash = 0;
  for (const byte of bytes.subarray(-WINDOW)) hash = (Math.imul(hash, FACTOR) + byte) | 0;
  return hash;
}

function distinctNeedles(secrets: readonly Recorded[]): readonly Needle[] {
  const distinct = new Map<string, Needle>();
  for (const { kind, text } of secrets) {
    for (const [form, value] of formsOf(telltale(text))) {
      if (distinct.has(value)) continue;
      distinct.set(value, { bytes: Buffer.from(value, 'utf8'), secretKind: kind, form });
    }
  }
  return [...distinct.values()];
}

/** So much of a long secret's end is in no other text by chance, and is found where the beginning was cut off. */
const TELLING_CHARACTERS = 48;

/** Of a private key in PEM its first line: line breaks and indentation differ from text to text, and that line is in no public part. */
function telltale(secret: string): string {
  const firstLine = /-----BEGIN [A-Z ]*PRIVATE KEY-----\s+(\S+)/.exec(secret)?.[1];
  return firstLine ?? secret.slice(-TELLING_CHARACTERS);
}

function formsOf(secret: string): readonly (readonly [form: string, value: string])[] {
  const bytes = Buffer.from(secret, 'utf8');
  const urlEncoded = encodeURIComponent(secret);
  const inBase64 = base64Within(bytes);
  return [
    ['as it is', secret],
    ['JSON', JSON.stringify(secret).slice(1, -1)],
    ['URL-encoded', urlEncoded],
    ['URL-encoded', urlEncoded.replaceAll(/%../g, (code) => code.toLowerCase())],
    ['hexadecimal', bytes.toString('hex')],
    ...inBase64.map((value) => ['base64', value] as const),
    ...inBase64.map(
      (value) => ['base64url', value.replaceAll('+', '-').replaceAll('/', '_')] as const,
    ),
  ];
}

/** Bytes that one character of base64 stands for, in bits, and how often the pattern repeats, in bytes. */
const BITS_PER_CHARACTER = 6;
const BASE64_PERIOD = 3;

/**
 * What of the secret is to be seen in the base64 of a longer text that holds it, for each of the three positions that it
 * can begin at; characters that also depend on its neighbours are left out.
 */
function base64Within(secret: Buffer): readonly string[] {
  return Array.from({ length: BASE64_PERIOD }, (_, bytesBefore) => {
    const encoded = Buffer.concat([Buffer.alloc(bytesBefore), secret]).toString('base64');
    const first = Math.ceil((bytesBefore * 8) / BITS_PER_CHARACTER);
    const end = Math.floor(((bytesBefore + secret.length) * 8) / BITS_PER_CHARACTER);
    return encoded.slice(first, end);
  });
}
