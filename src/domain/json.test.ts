import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type JsonValue, sameJson } from './json.ts';

describe('sameness of JSON', () => {
  it('holds for any value and its copy', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(sameJson(value as JsonValue, JSON.parse(JSON.stringify(value)) as JsonValue)).toBe(
          true,
        );
      }),
    );
  });

  it.each<[JsonValue, JsonValue, boolean]>([
    [{ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 }, true],
    [[1, 2], [2, 1], false],
    [{ a: null }, {}, false],
    [{ a: null }, { b: null }, false],
    [1, '1', false],
    [[], {}, false],
    [null, {}, false],
    [{ a: { b: 1 } }, { a: { b: 2 } }, false],
  ])('%j and %j: %s', (left, right, expected) => {
    expect(sameJson(left, right)).toBe(expected);
    expect(sameJson(right, left)).toBe(expected);
  });
});
