import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Secret } from '../domain/secret.ts';
import { type SealedPlace, Sealer, SealingError, type SealingKey } from './sealing.ts';

function newKey(id: string): SealingKey {
  return { id, key: new Secret(randomBytes(32)) };
}

const PLACE: SealedPlace = { table: 'grants', column: 'sealed_token', row: 'grant-1' };

describe('a sealed value', () => {
  const key = newKey('k1');
  const sealer = new Sealer([key]);

  it('opens in its place, whatever it says', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (plain) => {
        const sealed = sealer.seal(new Secret(plain), PLACE);
        expect(sealer.open(sealed, PLACE).reveal()).toBe(plain);
      }),
    );
  });

  it('names its version and key, and shows nothing else', () => {
    const sealed = sealer.seal(new Secret('the-token-itself'), PLACE);

    expect(sealed).toMatch(/^v1\.k1\.[\w-]{16}\.[\w-]+$/);
    expect(sealed).not.toContain(Buffer.from('the-token-itself').toString('base64url'));
  });

  it('is another one each time', () => {
    const plain = new Secret('same');
    expect(sealer.seal(plain, PLACE)).not.toBe(sealer.seal(plain, PLACE));
  });

  it.each([
    ['row', { ...PLACE, row: 'grant-2' }],
    ['column', { ...PLACE, column: 'sealed_access' }],
    ['table', { ...PLACE, table: 'instances' }],
  ])('does not open in another %s', (_, elsewhere) => {
    const sealed = sealer.seal(new Secret('token'), PLACE);

    expect(() => sealer.open(sealed, elsewhere)).toThrow(SealingError);
  });

  it('does not open once any of its characters was changed', () => {
    const sealed = sealer.seal(new Secret('token'), PLACE);
    // Not the last: in base64url it may hold bits that decode to nothing.
    for (let at = 0; at < sealed.length - 1; at += 1) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      const changed = `${sealed.slice(0, at)}${other}${sealed.slice(at + 1)}`;
      expect(() => sealer.open(changed, PLACE)).toThrow(SealingError);
    }
  });

  it.each(['', 'token', 'v1.k1', 'v1.k1.AAAA.AAAA', 'v2.k1.AAAAAAAAAAAAAAAA.AAAA', 'v1..a.b'])(
    'is not %j',
    (text) => {
      expect(() => sealer.open(text, PLACE)).toThrow(SealingError);
    },
  );

  it('opens with any of the keys, and is sealed with the first', () => {
    const newer = newKey('k2.2026');
    const rotated = new Sealer([newer, key]);
    const before = sealer.seal(new Secret('token'), PLACE);

    const after = rotated.seal(new Secret('token'), PLACE);

    expect(rotated.open(before, PLACE).reveal()).toBe('token');
    expect(after).toMatch(/^v1\.k2\.2026\./);
    expect(new Sealer([newer]).open(after, PLACE).reveal()).toBe('token');
  });

  it('does not open without its key, and the error names the key', () => {
    const sealed = sealer.seal(new Secret('token'), PLACE);

    expect(() => new Sealer([newKey('k2')]).open(sealed, PLACE)).toThrow(
      new SealingError('there is no sealing key k1'),
    );
  });

  it('does not open with another key of the same id, and the error keeps what it knows', () => {
    const sealed = sealer.seal(new Secret('token'), PLACE);
    const other = new Sealer([newKey('k1')]);

    expect(() => other.open(sealed, PLACE)).toThrow(
      expect.objectContaining({
        name: 'SealingError',
        message: expect.stringMatching(/grants\.sealed_token does not open under key k1/) as string,
      }) as Error,
    );
    expect(() => other.open(sealed, PLACE)).not.toThrow(sealed.slice(-10));
  });

  it('is sealed by what shows no key when it is printed', () => {
    expect(inspect(sealer, { depth: 9, showHidden: true })).not.toContain(
      Buffer.from(key.key.reveal()).toString('hex').slice(0, 16),
    );
    expect(JSON.stringify(sealer)).toBe('{}');
  });
});
