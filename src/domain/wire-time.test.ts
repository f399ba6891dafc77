import { expect, it } from 'vitest';

import { toWireTime } from './wire-time.ts';

it.each([
  ['2026-06-01T12:00:00.000Z', '2026-06-01T12:00:00.0Z'],
  ['2026-06-01T12:00:00.999Z', '2026-06-01T12:00:00.9Z'],
  ['1999-12-31T23:59:59.050Z', '1999-12-31T23:59:59.0Z'],
])('%s leaves as %s', (at, expected) => {
  expect(toWireTime(new Date(at))).toBe(expected);
});
