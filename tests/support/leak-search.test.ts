// Shows on planted secrets that the search of tests/leaks can find what it is there to find.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { append } from './leak-record.ts';
import { searchFor, searchRecord } from './leak-search.ts';

const TOKEN = 'h7Qz+w/Kp9"x e2-Lm4';

const PRIVATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAAAAAAAAAAAAAAAA
BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
-----END PRIVATE KEY-----
`;

const search = searchFor([
  { kind: 'token', text: TOKEN },
  { kind: 'client key', text: PRIVATE_KEY },
]);

const formsIn = (text: string) => search.in({ kind: 'log', text }).map(({ form }) => form);

describe('a planted token', () => {
  it.each([
    ['as it is', `before ${TOKEN} after`],
    ['as it is', TOKEN],
    ['JSON', JSON.stringify({ token: TOKEN })],
    ['URL-encoded', 'https://host/?token=h7Qz%2Bw%2FKp9%22x%20e2-Lm4&x=1'],
    ['URL-encoded', 'https://host/?token=h7Qz%2bw%2fKp9%22x%20e2-Lm4&x=1'],
    ['hexadecimal', String.raw`COPY t FROM stdin; \\x${Buffer.from(TOKEN).toString('hex')}`],
    ['base64', `Basic ${Buffer.from(TOKEN).toString('base64')}`],
    ['base64', `Basic ${Buffer.from(`u:${TOKEN}`).toString('base64')}`],
    ['base64', `Basic ${Buffer.from(`user:${TOKEN}:more`).toString('base64')}`],
    ['base64', `Basic ${Buffer.from(`users:${TOKEN}\n`).toString('base64')}`],
  ])('is found %s', (form, text) => {
    expect(formsIn(text)).toEqual([form]);
  });

  it('is found in base64url where that differs from base64', () => {
    const secret = '\u{3fff}~~~???>>>\u{3fff}';
    const text = Buffer.from(secret).toString('base64url');
    const leaks = searchFor([{ kind: 'token', text: secret }]).in({ kind: 'log', text });
    expect(leaks.map(({ form }) => form)).toEqual(['base64url']);
  });

  it('is named by kinds, never by its value', () => {
    expect(search.in({ kind: 'broker log', text: `${TOKEN} and ${TOKEN}` })).toEqual([
      { secretKind: 'token', outputKind: 'broker log', form: 'as it is' },
    ]);
  });

  it('is found among thousands of other secrets', () => {
    const others = Array.from({ length: 5_000 }, (_, n) => ({
      kind: 'other',
      text: `other-secret-${n}`,
    }));
    const text = `${'x'.repeat(1_000_000)}other-secret-4711${'y'.repeat(1_000_000)}${TOKEN}`;
    const leaks = searchFor([...others, { kind: 'token', text: TOKEN }]).in({ kind: 'log', text });
    // other-secret-4, -47 and -471 are secrets too, and stand there as well.
    expect(leaks.map(({ secretKind }) => secretKind)).toEqual(['other', 'token']);
  });
});

describe('a planted private key', () => {
  it.each([
    ['as it is', PRIVATE_KEY],
    ['as it is', PRIVATE_KEY.replaceAll('\n', '\n      ')],
    ['as it is', JSON.stringify({ key: PRIVATE_KEY })],
    ['base64', `client-key-data: ${Buffer.from(PRIVATE_KEY).toString('base64')}`],
  ])('is found %s', (form, text) => {
    expect(formsIn(text)).toEqual([form]);
  });
});

describe('an innocent text', () => {
  it.each([
    ['is empty', ''],
    ['is shorter than any secret', 'Lm4'],
    ['holds all but the first character', TOKEN.slice(1)],
    ['holds all but the last character', TOKEN.slice(0, -1)],
    ['holds the end in capitals', TOKEN.toUpperCase()],
    ['holds the frame of a private key', '-----BEGIN PRIVATE KEY-----\n'],
    ['holds the public half of the key', 'B'.repeat(64)],
  ])('is passed when it %s', (_, text) => {
    expect(formsIn(text)).toEqual([]);
  });
});

describe('the record of a run', () => {
  const recordWith = (outputs: readonly string[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'leak-record-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    append(folder, 'secrets', { kind: 'token', text: TOKEN });
    for (const text of outputs) append(folder, 'outputs', { kind: 'broker log', text });
    return folder;
  };

  it('shows a planted token, with the kinds of both', async () => {
    expect(await searchRecord(recordWith(['fine\n', `oh\n${TOKEN}\n`]))).toEqual({
      secretKinds: ['token'],
      outputKinds: ['broker log'],
      leaks: [{ secretKind: 'token', outputKind: 'broker log', form: 'as it is' }],
    });
  });

  it('shows that nothing was put out', async () => {
    expect(await searchRecord(recordWith([]))).toMatchObject({ outputKinds: [], leaks: [] });
  });
});
