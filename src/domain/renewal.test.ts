import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { renewBefore } from './renewal.ts';

const issuedAt = new Date('2026-06-01T12:00:00.000Z');

describe('renew_before', () => {
  it('lies between 75 and 85 % of the lifetime for any id', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.integer({ min: 600, max: 7200 }),
        (id, seconds) => {
          const expiresAt = new Date(issuedAt.getTime() + seconds * 1000);
          const share =
            (renewBefore(id, { issuedAt, expiresAt }).getTime() - issuedAt.getTime()) /
            (seconds * 1000);
          expect(share).toBeGreaterThanOrEqual(0.7499);
          expect(share).toBeLessThan(0.85);
        },
      ),
    );
  });

  it('is the same for a repeat and spread over a fleet', () => {
    const expiresAt = new Date(issuedAt.getTime() + 1_000_000);
    const shares = Array.from({ length: 200 }, (_, at) =>
      Math.floor(
        (renewBefore(`binding-${at}`, { issuedAt, expiresAt }).getTime() - issuedAt.getTime()) /
          10_000,
      ),
    );
    expect(renewBefore('b', { issuedAt, expiresAt })).toEqual(
      renewBefore('b', { issuedAt, expiresAt }),
    );
    expect(new Set(shares)).toEqual(new Set([75, 76, 77, 78, 79, 80, 81, 82, 83, 84]));
  });
});
