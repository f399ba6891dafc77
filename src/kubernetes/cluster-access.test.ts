import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';

import { Secret } from '../domain/secret.ts';
import { type ClusterAccess, parseAccess, sameAccess, serializeAccess } from './cluster-access.ts';

const withToken: ClusterAccess = {
  server: 'https://api.example.com:6443',
  certificateAuthorityData: 'Q0E=',
  tlsServerName: 'kubernetes',
  credential: { kind: 'token', token: new Secret('the-admin-token') },
};

const withCertificate: ClusterAccess = {
  server: 'https://api.example.com',
  credential: {
    kind: 'certificate',
    certificateData: 'Q0VSVA==',
    keyData: new Secret('the-private-key'),
  },
};

describe('access to a cluster', () => {
  it.each([
    ['a token', withToken],
    ['a client certificate', withCertificate],
  ])('with %s comes back from its text as it was', (_, access) => {
    expect(sameAccess(parseAccess(serializeAccess(access)), access)).toBe(true);
  });

  it('is another one as soon as any of its parts is', () => {
    const others: ClusterAccess[] = [
      { ...withToken, server: 'https://other.example.com:6443' },
      { ...withToken, certificateAuthorityData: 'T1RIRVI=' },
      { ...withToken, tlsServerName: 'other' },
      { server: withToken.server, credential: withToken.credential },
      { ...withToken, credential: { kind: 'token', token: new Secret('another-token') } },
      { ...withToken, credential: withCertificate.credential },
    ];
    for (const other of others) expect(sameAccess(withToken, other)).toBe(false);
  });

  it('does not show its credential when it is printed', () => {
    const printed = `${inspect([withToken, withCertificate], { depth: 9 })}${JSON.stringify([withToken, withCertificate])}`;
    expect(printed).not.toMatch(/the-admin-token|the-private-key/);
  });

  it('is not read from text that is something else', () => {
    expect(() => parseAccess('{"server":"https://api.example.com"}')).toThrow(TypeError);
    expect(() => parseAccess('[]')).toThrow(TypeError);
  });
});
