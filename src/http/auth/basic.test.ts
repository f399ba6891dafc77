import { describe, expect, it } from 'vitest';

import { Secret } from '../../domain/secret.ts';
import { basicAuthenticator } from './basic.ts';
import { closedAuthenticator } from './closed.ts';
import { noAuthenticator } from './none.ts';

function basic(text: string): string {
  return `Basic ${Buffer.from(text, 'utf8').toString('base64')}`;
}

describe('basic authentication', () => {
  const authenticator = basicAuthenticator('broker', new Secret('p:w€'));

  it.each([
    ['the right pair', basic('broker:p:w€')],
    ['another case of the scheme', basic('broker:p:w€').replace('Basic', 'bAsIc')],
    ['more blanks', basic('broker:p:w€').replace(' ', '   ')],
  ])('knows %s', (_, authorization) => {
    expect(authenticator.authenticate({ authorization })).toEqual({ name: 'broker' });
  });

  it.each([
    ['nothing', undefined],
    ['an empty header', ''],
    ['another password', basic('broker:p:w')],
    ['a longer password', basic('broker:p:w€€')],
    ['another user', basic('Broker:p:w€')],
    ['no password', basic('broker')],
    ['an empty pair', basic(':')],
    ['another scheme', `Bearer ${Buffer.from('broker:p:w€').toString('base64')}`],
    ['no scheme', Buffer.from('broker:p:w€').toString('base64')],
    ['no base64', 'Basic broker:p:w€'],
    ['base64 with something behind it', `${basic('broker:p:w€')} x`],
    ['only a scheme', 'Basic '],
  ])('does not know %s', (_, authorization) => {
    const headers = authorization === undefined ? {} : { authorization };

    expect(authenticator.authenticate(headers)).toBeUndefined();
  });

  it('says what to send', () => {
    expect(authenticator.challenge).toBe('Basic realm="runtime-broker", charset="UTF-8"');
  });
});

describe('no authentication', () => {
  it('takes everybody for one and the same', () => {
    expect(noAuthenticator().authenticate({})).toEqual({ name: 'anonymous' });
  });
});

describe('a closed surface', () => {
  it.each([
    ['nothing', {}],
    ['an empty pair', { authorization: basic(':') }],
    ['a user without a password', { authorization: basic('operator:') }],
  ])('knows nobody: %s', (_, headers) => {
    expect(closedAuthenticator().authenticate(headers)).toBeUndefined();
  });
});
