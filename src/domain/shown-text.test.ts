import { describe, expect, it } from 'vitest';

import { cleaned } from './shown-text.ts';

describe('a text of a caller', () => {
  it.each([
    ['a name', 'a name'],
    ['a\r\nb\u001b[31m\u0085\u007f\0c', 'ab[31mc'],
    ['x'.repeat(500), 'x'.repeat(128)],
    [`${'x'.repeat(127)}😀`, `${'x'.repeat(127)}\ufffd`],
  ])('%j is shown as %j', (text, shown) => {
    expect(cleaned(text)).toBe(shown);
  });
});
