import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import { Secret } from '../domain/secret.ts';
import { makeMark, type Marker, verifyMark, verifyMarkOf } from './grant-mark.ts';

const marker: Marker = {
  key: new Secret(Buffer.alloc(32, 7)),
  installation: '0d4b1c1e-5a3f-4c57-8f5c-2a6f2f5b7d11',
};
const issuedAt = new Date('2026-05-04T03:02:01.234Z');
const grant = { name: 'kyma-binding-a-0123456789', issuedAt };
const mark = makeMark(marker, grant);

describe('the mark of a grant', () => {
  it('is the time of issue and a MAC over installation, name and time', () => {
    const mac = createHmac('sha256', Buffer.alloc(32, 7))
      .update(
        '["runtime-broker/mark","0d4b1c1e-5a3f-4c57-8f5c-2a6f2f5b7d11","kyma-binding-a-0123456789","1777863721234"]',
      )
      .digest('base64url');
    expect(mark).toBe(`1777863721234.${mac}`);
  });

  it('vouches for the time of issue', () => {
    expect(verifyMark(marker, grant.name, mark)).toEqual(issuedAt);
  });

  it('is worth nothing for another name, installation, key or time', () => {
    const [, code = ''] = mark.split('.');
    const otherKey = { ...marker, key: new Secret(Buffer.alloc(32, 8)) };
    const otherInstallation = { ...marker, installation: 'another' };
    expect(verifyMark(marker, 'kyma-binding-b-0123456789', mark)).toBeUndefined();
    expect(verifyMark(otherInstallation, grant.name, mark)).toBeUndefined();
    expect(verifyMark(otherKey, grant.name, mark)).toBeUndefined();
    expect(verifyMark(marker, grant.name, `1777863721235.${code}`)).toBeUndefined();
  });

  it.each([
    '',
    '.',
    '1777863721234',
    '1777863721234.',
    '1777863721234.AAAA',
    `01777863721234.${'A'.repeat(43)}`,
    `-1.${'A'.repeat(43)}`,
    `1e12.${'A'.repeat(43)}`,
    `1777863721234.${'A'.repeat(44)}`,
    `1777863721234.${'+'.repeat(43)}`,
  ])('is not seen in %j', (text) => {
    expect(verifyMark(marker, grant.name, text)).toBeUndefined();
  });

  it('is read from an object of a cluster, for the name of that object', () => {
    const annotations = { 'runtime-broker/mark': mark };
    expect(verifyMarkOf(marker, { metadata: { name: grant.name, annotations } })).toEqual(issuedAt);
    expect(verifyMarkOf(marker, { metadata: { name: 'copied', annotations } })).toBeUndefined();
    expect(verifyMarkOf(marker, { metadata: { name: grant.name } })).toBeUndefined();
    expect(verifyMarkOf(marker, {})).toBeUndefined();
  });
});
