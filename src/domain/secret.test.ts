import { inspect } from 'node:util';
import { expect, it } from 'vitest';

import { Secret } from './secret.ts';

it('prints, logs and serialises as [secret], and opens only by reveal', () => {
  const secret = new Secret('hunter2');
  const seen = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect(secret),
    inspect({ nested: { secret } }, { depth: 5, showHidden: true }),
    JSON.stringify(Object.entries(secret)),
  ].join(' ');
  expect(seen).not.toContain('hunter2');
  expect(String(secret)).toBe('[secret]');
  expect(secret.reveal()).toBe('hunter2');
});
