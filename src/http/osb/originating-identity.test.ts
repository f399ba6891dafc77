import { describe, expect, it } from 'vitest';

import { readOriginatingIdentity } from './originating-identity.ts';

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

describe('the originating identity', () => {
  it.each([
    ['of Cloud Foundry', 'cloudfoundry', { user_id: '683ea748' }, '683ea748'],
    ['of Kubernetes', 'kubernetes', { username: 'duke', groups: ['admin'] }, 'duke'],
    ['of another platform', 'sapcp', { user_id: 'someone@example.org' }, 'someone@example.org'],
    ['with a user of 255 characters', 'sapcp', { user_id: '😀'.repeat(255) }, '😀'.repeat(255)],
    ['without a user', 'cloudfoundry', {}, undefined],
    ['with a user that is none', 'cloudfoundry', { user_id: 7 }, undefined],
    ['with a user that cannot be kept', 'cloudfoundry', { user_id: 'a\u0000' }, undefined],
  ])('%s', (...[, platform, claims, user]) => {
    expect(readOriginatingIdentity(`${platform} ${encoded(claims)}`)).toEqual({ platform, user });
  });

  it('may be missing', () => {
    expect(readOriginatingIdentity(undefined)).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['one word', 'cloudfoundry'],
    ['no base64 of JSON', 'cloudfoundry e30x'],
    ['a list', `cloudfoundry ${encoded([])}`],
    ['null', `cloudfoundry ${encoded(null)}`],
    ['three words', `cloudfoundry ${encoded({})} x`],
    ['a user of 256 characters', `cloudfoundry ${encoded({ user_id: '😀'.repeat(256) })}`],
    ['a platform of 256 characters', `${'p'.repeat(256)} ${encoded({})}`],
  ])('is malformed: %s', (_, header) => {
    expect(readOriginatingIdentity(header)).toBe('malformed');
  });
});
