import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { grantName } from './grant-name.ts';

const tenRandom = (length: number): string => 'a1b2c3d4e5'.slice(0, length);

/** As Kubernetes has it: lower-case labels between dots, 253 characters at most. */
const DNS_1123_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const anyId = fc.oneof(
  fc.uuid(),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 255 }),
  fc.stringMatching(/^[a-z0-9.~_-]{1,255}$/),
  fc.stringMatching(/^sha256-[0-9a-f]{32}$/),
);

describe('the name of a grant', () => {
  it('carries an id that fits as it is', () => {
    expect(grantName('f9a41e9a-7b5c-4d2e-9f6a-0c1d2e3f4a5b', tenRandom)).toBe(
      'kyma-binding-f9a41e9a-7b5c-4d2e-9f6a-0c1d2e3f4a5b-a1b2c3d4e5',
    );
  });

  it('carries the hash of an id that does not fit', () => {
    expect(grantName('My_Binding', tenRandom)).toBe(
      'kyma-binding-sha256-6149eef88a2417b2e0d1ac70dbebeebc-a1b2c3d4e5',
    );
  });

  it.each([
    'UPPER',
    'a_b',
    'a~b',
    'a/b',
    '../../etc',
    'ä',
    '-a',
    'a-',
    'a.b',
    ' ',
    'x'.repeat(255),
  ])('does not take over the id %j', (id) => {
    expect(grantName(id, tenRandom)).toMatch(/^kyma-binding-sha256-[0-9a-f]{32}-a1b2c3d4e5$/);
  });

  it('takes over the longest id that leaves room for the rest, and no longer one', () => {
    expect(grantName('x'.repeat(229), tenRandom)).toHaveLength(253);
    expect(grantName('x'.repeat(230), tenRandom)).toHaveLength(63);
  });

  it('is valid for every kind of object, whatever the id', () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const name = grantName(id, tenRandom);
        expect(name).toMatch(DNS_1123_SUBDOMAIN);
        expect(name.length).toBeLessThanOrEqual(253);
      }),
    );
  });

  it('is never the same for two ids, not even for an id that looks like the hash of another', () => {
    fc.assert(
      fc.property(anyId, anyId, (one, other) => {
        fc.pre(one !== other);
        expect(grantName(one, tenRandom)).not.toBe(grantName(other, tenRandom));
      }),
    );
    const [hashed = ''] = /sha256-[0-9a-f]{32}/.exec(grantName('A', tenRandom)) ?? [];
    expect(grantName(hashed, tenRandom)).not.toBe(grantName('A', tenRandom));
  });
});
