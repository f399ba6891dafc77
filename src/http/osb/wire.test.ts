import { describe, expect, it } from 'vitest';

import { Secret } from '../../domain/secret.ts';
import { fromBinding, fromBindingParameters, toAccounts, toBindingContext } from './wire.ts';

const BINDING = {
  kubeconfig: new Secret('apiVersion: v1'),
  server: 'https://cluster.example.org',
  certificateAuthorityData: 'Q0E=',
  token: new Secret('a.b.c'),
  issuedAt: new Date('2030-01-02T03:04:05.999Z'),
  expiresAt: new Date('2030-01-02T03:14:05.678Z'),
  renewBefore: new Date('2030-01-02T03:12:00.000Z'),
  expirationSeconds: 600,
};

/** As a client gets it. */
function sent(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body));
}

describe('a binding on the wire', () => {
  it('has its credentials, and times with one fraction digit', () => {
    expect(sent(fromBinding(BINDING))).toEqual({
      credentials: {
        kubeconfig: 'apiVersion: v1',
        server: 'https://cluster.example.org',
        certificate_authority_data: 'Q0E=',
        token: 'a.b.c',
      },
      metadata: { expires_at: '2030-01-02T03:14:05.6Z', renew_before: '2030-01-02T03:12:00.0Z' },
    });
  });

  it('leaves out what is not there instead of sending null', () => {
    const plain = { ...BINDING, certificateAuthorityData: undefined, expirationSeconds: undefined };

    expect(sent(fromBinding(plain))).not.toHaveProperty('credentials.certificate_authority_data');
    expect(sent(fromBindingParameters(plain))).toEqual({});
    expect(sent(fromBindingParameters(BINDING))).toEqual({ expiration_seconds: 600 });
  });
});

describe('a context on the wire', () => {
  const offer = { service_id: 's', plan_id: 'p' };

  it('gives the accounts that are named, the user in lower case', () => {
    const context = { globalaccount_id: 'GA', subaccount_id: '', user_id: 'User@Example.ORG' };

    expect(toAccounts({ context })).toEqual({
      globalAccountId: 'GA',
      userId: 'user@example.org',
    });
    expect(toAccounts({ context: null })).toEqual({});
    expect(toAccounts({})).toEqual({});
  });

  it('says for whom a binding is made', () => {
    expect(toBindingContext({ ...offer, context: { email: 'a@b', origin: null } })).toEqual({
      email: 'a@b',
      origin: undefined,
    });
    expect(toBindingContext(offer)).toEqual({ email: undefined, origin: undefined });
  });
});
