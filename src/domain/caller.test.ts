import { describe, expect, it } from 'vitest';

import { creatorOf } from './caller.ts';

const caller = { name: 'broker' };
const identity = { platform: 'cloudfoundry', user: 'u-1' };

describe('created_by', () => {
  it.each([
    ['email and origin', { email: 'a@b.c', origin: 'sap.ids' }, identity, 'a@b.c sap.ids'],
    ['email alone', { email: 'a@b.c', origin: undefined }, identity, 'a@b.c'],
    ['origin alone', { email: undefined, origin: 'client-7' }, identity, 'client-7'],
    ['user of the platform', { email: undefined, origin: undefined }, identity, 'u-1 cloudfoundry'],
    ['the caller', { email: undefined, origin: undefined }, undefined, 'broker'],
    [
      'the caller where the platform names no user',
      { email: undefined, origin: undefined },
      { platform: 'x', user: undefined },
      'broker',
    ],
  ])('is %s', (_, context, originating, expected) => {
    expect(creatorOf(caller, context, originating)).toBe(expected);
  });
});
