import { describe, expect, it } from 'vitest';

import { osbIdFault } from './osb-id.ts';

describe('an id', () => {
  it.each([
    'a',
    'a/b',
    '../../etc',
    '...',
    ' ',
    'Ünïcode',
    'A_b~c',
    '%2F',
    'x'.repeat(255),
    '😀'.repeat(255),
  ])('may be %j', (id) => {
    expect(osbIdFault(id)).toBeUndefined();
  });

  it.each([
    ['', 'must not be empty'],
    ['.', 'must not be "." or ".."'],
    ['..', 'must not be "." or ".."'],
    ['a\0b', 'must not contain a NUL character'],
    ['\ud800', 'must be valid UTF-8'],
    ['x'.repeat(256), 'must not be longer than 255 characters'],
    ['😀'.repeat(256), 'must not be longer than 255 characters'],
  ])('may not be %j', (id, fault) => {
    expect(osbIdFault(id)).toBe(fault);
  });
});
