import { describe, expect, it } from 'vitest';

import { reasonFault } from './reason.ts';

describe('a reason', () => {
  it.each(['x', 'INC-4711: the cluster was deleted by hand', '🦀'.repeat(1000)])(
    'may be a text of 1 to 1000 characters (case %#)',
    (reason) => {
      expect(reasonFault(reason)).toBeUndefined();
    },
  );

  it.each([
    ['', 'must not be empty'],
    [' \n\t', 'must not be empty'],
    ['a\0b', 'must not contain NUL characters or unpaired surrogates'],
    ['\ud800', 'must not contain NUL characters or unpaired surrogates'],
    ['x'.repeat(1001), 'must not be longer than 1000 characters'],
  ])('%j is none', (reason, fault) => {
    expect(reasonFault(reason)).toBe(fault);
  });
});
