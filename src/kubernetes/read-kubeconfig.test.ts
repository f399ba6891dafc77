import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import {
  createAuthority,
  issueClientCertificate,
} from '../../tests/support/real-parts/certificates.ts';
import { BrokerError } from '../domain/errors.ts';
import { readKubeconfig } from './read-kubeconfig.ts';

interface Fields {
  readonly [field: string]: unknown;
}

interface Parts {
  readonly top?: Fields;
  readonly cluster?: Fields;
  readonly context?: Fields;
  readonly user?: Fields;
}

/** A kubeconfig that is read without complaint, and what is to be different in it. */
function kubeconfig({ top, cluster, context, user }: Parts = {}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    clusters: [
      { name: 'first', cluster: { server: 'http://first.example.com', 'proxy-url': 'x' } },
      { name: 'mine', cluster: { server: 'https://api.example.com:6443', ...cluster } },
    ],
    contexts: [
      { name: 'there', context: { cluster: 'first', user: 'other' } },
      { name: 'here', context: { cluster: 'mine', user: 'me', ...context } },
    ],
    users: [
      { name: 'other', user: { exec: { command: 'rm' } } },
      { name: 'me', user: { token: 'my-token', ...user } },
    ],
    ...top,
  });
}

/** What reading threw; undefined where it was read. */
function failureOf(text: string): unknown {
  try {
    readKubeconfig(text);
    return undefined;
  } catch (error) {
    return error;
  }
}

function refusalOf(text: string): string {
  const failure = failureOf(text);
  if (failure instanceof BrokerError && failure.code === 'invalid-parameters') {
    return failure.message;
  }
  throw new Error('it was not refused', { cause: failure });
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

const authority = await createAuthority('a CA');
const client = await issueClientCertificate(authority, { commonName: 'me' });
const otherClient = await issueClientCertificate(authority, { commonName: 'other' });

/** User fields that log in with a certificate instead of the token. */
const byCertificate = (fields: Fields = {}): Fields => ({
  token: undefined,
  'client-certificate-data': base64(client.certPem),
  'client-key-data': base64(client.keyPem),
  ...fields,
});

describe('a kubeconfig', () => {
  it('gives the cluster and the user of its current context, not the first ones', () => {
    const access = readKubeconfig(kubeconfig());
    expect(access.server).toBe('https://api.example.com:6443');
    expect(access.certificateAuthorityData).toBeUndefined();
    const { credential } = access;
    expect(credential.kind === 'token' && credential.token.reveal()).toBe('my-token');
  });

  it('gives a CA, a TLS name and a client certificate', () => {
    const ca = base64(authority.certPem);
    const text = kubeconfig({
      cluster: { 'certificate-authority-data': ca, 'tls-server-name': 'kubernetes.default.svc' },
      user: byCertificate(),
    });
    const { credential, ...address } = readKubeconfig(text);
    expect(address).toEqual({
      server: 'https://api.example.com:6443',
      certificateAuthorityData: ca,
      tlsServerName: 'kubernetes.default.svc',
    });
    expect(credential).toMatchObject({
      kind: 'certificate',
      certificateData: base64(client.certPem),
    });
    expect(credential.kind === 'certificate' && credential.keyData.reveal()).toBe(
      base64(client.keyPem),
    );
  });

  it('may be JSON', () => {
    const text = JSON.stringify(
      {
        'current-context': 'a',
        clusters: [{ name: 'a', cluster: { server: 'https://api.example.com' } }],
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
        users: [{ name: 'a', user: { token: 'my-token' } }],
      },
      null,
      '\t',
    );
    expect(readKubeconfig(text).server).toBe('https://api.example.com');
  });

  it('may have fields that change nothing for us', () => {
    const text = kubeconfig({
      top: { preferences: { colors: true }, extensions: [] },
      cluster: { 'disable-compression': true, extensions: [] },
      context: { namespace: 'default', extensions: [] },
      user: { extensions: [] },
    });
    expect(readKubeconfig(text).server).toBe('https://api.example.com:6443');
  });

  it('may have empty fields, which count as absent', () => {
    const text = kubeconfig({
      cluster: { 'certificate-authority-data': '', 'tls-server-name': null },
      user: { 'client-certificate-data': '', 'client-key-data': null },
    });
    expect(readKubeconfig(text).certificateAuthorityData).toBeUndefined();
  });

  it('may hold several certificates in one CA, and line breaks in base64', () => {
    const ca = base64(`# ours\n${authority.certPem}\n${client.certPem}\n`).replace(
      /.{64}/g,
      '$&\n',
    );
    const text = kubeconfig({ cluster: { 'certificate-authority-data': ca } });
    expect(readKubeconfig(text).certificateAuthorityData).toBe(ca);
  });

  it('may share a few values by YAML aliases', () => {
    const text = kubeconfig()
      .replaceAll('my-token', '&t my-token')
      .replace('name: first', 'name: *t');
    expect(() => readKubeconfig(text)).toThrow(/not valid|aliases/);
    const shared = kubeconfig()
      .replace('cluster: mine', 'cluster: &c mine')
      .concat('extensions: *c\n');
    expect(readKubeconfig(shared).server).toBe('https://api.example.com:6443');
  });
});

describe('a field that is not allowed is named', () => {
  it.each<[Parts, string]>([
    [{ user: { exec: { command: 'aws' } } }, 'users[].user.exec'],
    [{ user: { 'auth-provider': { name: 'gcp' } } }, 'users[].user.auth-provider'],
    [{ user: { tokenFile: '/etc/passwd' } }, 'users[].user.tokenFile'],
    [{ user: { username: 'a', password: 'b' } }, 'users[].user.username'],
    [{ user: { 'client-certificate': '/a.crt' } }, 'users[].user.client-certificate'],
    [{ user: { 'client-key': '/a.key' } }, 'users[].user.client-key'],
    [{ user: { as: 'system:admin' } }, 'users[].user.as'],
    [{ user: { 'as-groups': ['system:masters'] } }, 'users[].user.as-groups'],
    [
      { cluster: { 'insecure-skip-tls-verify': true } },
      'clusters[].cluster.insecure-skip-tls-verify',
    ],
    [{ cluster: { 'proxy-url': 'http://proxy' } }, 'clusters[].cluster.proxy-url'],
    [
      { cluster: { 'certificate-authority': '/ca.crt' } },
      'clusters[].cluster.certificate-authority',
    ],
    [{ context: { user2: 'a' } }, 'contexts[].context.(a field)'],
    [{ user: { namespace: 'a' } }, 'users[].user.namespace'],
    [{ top: { hooks: [] } }, 'hooks'],
  ])('%j', (parts, field) => {
    expect(refusalOf(kubeconfig(parts))).toBe(`kubeconfig: ${field} is not allowed`);
  });

  it('unless its name could be a value that slipped', () => {
    const slipped = 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln';
    expect(refusalOf(kubeconfig({ user: { [slipped]: null } }))).toBe(
      'kubeconfig: users[].user.(a field) is not allowed',
    );
  });

  it('beside the fields of an entry, too', () => {
    const text = kubeconfig({
      top: { users: [{ name: 'me', user: { token: 'a' }, as: 'system:admin' }] },
    });
    expect(refusalOf(text)).toBe('kubeconfig: users[].as is not allowed');
  });
});

describe('the address of a kubeconfig', () => {
  it.each([
    'https://api.example.com',
    'https://api.example.com:6443/',
    'https://rancher.example.com/k8s/clusters/c-1',
    'https://10.0.0.1:6443',
    'https://[fd00::1]:6443',
    'HTTPS://API.EXAMPLE.COM',
  ])('may be %s', (server) => {
    expect(readKubeconfig(kubeconfig({ cluster: { server } })).server).toBe(server);
  });

  it.each(['http://api.example.com', 'file:///etc/passwd', 'api.example.com:6443', 'ftp://a'])(
    'may not be %s, which is not https',
    (server) => {
      expect(refusalOf(kubeconfig({ cluster: { server } }))).toBe(
        'kubeconfig: clusters[].cluster.server must be an https address',
      );
    },
  );

  it.each([
    'https://',
    'https:///path',
    'https:/api.example.com',
    'https:\\\\api.example.com',
    'https://user:password@api.example.com',
    'https://user@api.example.com',
    'https://api.example.com?a=b',
    'https://api.example.com?',
    'https://api.example.com/#a',
    'https://api.example.com/a b',
    'https://api.exa\nmple.com',
    'https://api.example.com:99999',
    'https://[fd00::1',
    `https://${'a'.repeat(2100)}.example.com`,
  ])('may not be %j', (server) => {
    expect(refusalOf(kubeconfig({ cluster: { server } }))).toBe(
      'kubeconfig: clusters[].cluster.server must be https://host[:port][/path], without user, query and fragment',
    );
  });

  it.each(['a b', '-a', 'a/b', 'a:1', '*.example.com', 'a'.repeat(254)])(
    'may not have the TLS name %j',
    (name) => {
      expect(refusalOf(kubeconfig({ cluster: { 'tls-server-name': name } }))).toBe(
        'kubeconfig: clusters[].cluster.tls-server-name is not a host name',
      );
    },
  );
});

describe('the credential of a kubeconfig', () => {
  const eitherOr =
    'kubeconfig: users[].user must have either token, or client-certificate-data and client-key-data';

  it('is a token or a certificate with its key: neither both nor half of one', () => {
    const nothing = { token: undefined };
    expect(refusalOf(kubeconfig({ user: nothing }))).toBe(eitherOr);
    expect(refusalOf(kubeconfig({ user: byCertificate({ token: 'a' }) }))).toBe(eitherOr);
    expect(refusalOf(kubeconfig({ user: byCertificate({ 'client-key-data': undefined }) }))).toBe(
      eitherOr,
    );
    expect(refusalOf(kubeconfig({ user: { 'client-key-data': base64(client.keyPem) } }))).toBe(
      eitherOr,
    );
  });

  it.each(['a b', 'a\nb', 'a\r\nHost: b', 'ä', '\u0000', 'a'.repeat(16_385)])(
    'is no token where it is %j',
    (token) => {
      expect(refusalOf(kubeconfig({ user: { token } }))).toBe(
        'kubeconfig: users[].user.token has characters that no bearer token has',
      );
    },
  );

  it('must be text', () => {
    expect(refusalOf(kubeconfig({ user: { token: 123 } }))).toBe(
      'kubeconfig: users[].user.token must be text',
    );
  });

  it.each<[string, () => Fields, string]>([
    [
      'a certificate that is not base64',
      () => byCertificate({ 'client-certificate-data': '!!' }),
      'client-certificate-data is not base64',
    ],
    [
      'a certificate that is not PEM',
      () => byCertificate({ 'client-certificate-data': base64('hello') }),
      'client-certificate-data holds no PEM certificate',
    ],
    [
      'a certificate whose content is broken',
      () =>
        byCertificate({ 'client-certificate-data': base64(client.certPem.replace('MII', 'MIX')) }),
      'client-certificate-data holds something that is no certificate',
    ],
    [
      'a key that is no key',
      () => byCertificate({ 'client-key-data': base64(client.certPem) }),
      'client-key-data is not an unencrypted PEM private key',
    ],
    [
      'a public key in the place of the key',
      () =>
        byCertificate({
          'client-key-data': base64('-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----\n'),
        }),
      'client-key-data is not an unencrypted PEM private key',
    ],
    [
      'the key of another certificate',
      () => byCertificate({ 'client-key-data': base64(otherClient.keyPem) }),
      'client-key-data is not the key of the client certificate',
    ],
  ])('is refused with %s', (_, user, fault) => {
    expect(refusalOf(kubeconfig({ user: user() }))).toBe(`kubeconfig: users[].user.${fault}`);
  });

  it('is refused with a CA that holds a private key', () => {
    const ca = base64(authority.certPem + authority.keyPem);
    expect(refusalOf(kubeconfig({ cluster: { 'certificate-authority-data': ca } }))).toBe(
      'kubeconfig: clusters[].cluster.certificate-authority-data holds something that is no certificate',
    );
  });
});

describe('a text that is no kubeconfig', () => {
  it.each<[string, string, string]>([
    ['nothing', '', 'is empty'],
    ['white space', ' \n\n', 'is empty'],
    ['a word', 'hello', 'is not a YAML map'],
    ['a list', '- a\n- b\n', 'is not a YAML map'],
    ['null', 'null', 'is not a YAML map'],
    ['two documents', 'a: 1\n---\nb: 2\n', 'has more than one YAML document'],
    ['a broken line', 'a: 1\nb: [\n', 'is not valid YAML at line 3'],
    [
      'a key that comes twice',
      'kind: Config\nkind: Config\n',
      'has a key twice in one map, at line 2',
    ],
    ['no context', 'kind: Config\n', 'current-context is missing'],
    ['another kind', 'kind: Pod\n', 'kind must be Config'],
    ['another version', 'apiVersion: v2\n', 'apiVersion must be v1'],
    ['no lists', 'current-context: a\n', 'contexts is missing or no list'],
    ['maps for lists', 'current-context: a\ncontexts: {}\n', 'contexts is missing or no list'],
    [
      'a context that is not there',
      'current-context: a\ncontexts: [{name: b}]\n',
      'contexts has no entry that current-context names',
    ],
    [
      'two contexts of the current name',
      'current-context: a\ncontexts: [{name: a, context: {}}, {name: a, context: {}}]\n',
      'contexts has two entries that current-context names',
    ],
    [
      'a context without content',
      'current-context: a\ncontexts: [{name: a}]\n',
      'contexts[].context is missing or no map',
    ],
    [
      'a context without a user',
      'current-context: a\ncontexts: [{name: a, context: {cluster: a}}]\nclusters: [{name: a, cluster: {}}]\n',
      'contexts[].context.user is missing',
    ],
    ['an alias of nothing', 'a: *b\n', 'has YAML aliases or nesting that no kubeconfig needs'],
    ['a merge key', '<<: {a: b}\n', '(a field) is not allowed'],
    ['a key that is a map', '{a: b}: c\n', '(a field) is not allowed'],
    ['__proto__', '__proto__: {kind: Config}\n', '(a field) is not allowed'],
    ['a NUL', 'kind: "\\0"\n', 'kind must be Config'],
  ])('%s', (_, text, fault) => {
    expect(refusalOf(text)).toBe(`kubeconfig: ${fault}`);
  });

  it('is refused before it is parsed where it is too long', () => {
    expect(refusalOf(`# ${'a'.repeat(64 * 1024)}`)).toMatch(/^kubeconfig: is longer than 64 KiB; /);
  });

  it('cannot multiply itself by aliases', () => {
    const levels = Array.from('bcdefghij').map(
      (name, level) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[level]}`).join(', ')}]`,
    );
    expect(refusalOf(`a: &a [x]\n${levels.join('\n')}\n`)).toBe(
      'kubeconfig: has YAML aliases or nesting that no kubeconfig needs',
    );
  });

  it('cannot exhaust the stack by nesting', () => {
    expect(refusalOf('['.repeat(60_000))).toMatch(/^kubeconfig: /);
    expect(refusalOf('{a: '.repeat(15_000))).toMatch(/^kubeconfig: /);
    expect(refusalOf('- '.repeat(30_000))).toMatch(/^kubeconfig: /);
  });

  it('of any kind gets a BrokerError and nothing of what it said', () => {
    const secret = 'hunter2hunter2';
    const anything = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.record({ at: fc.nat(900), what: fc.string({ maxLength: 5 }) }).map(({ at, what }) => {
        const text = kubeconfig({ user: { token: secret } });
        return text.slice(0, at) + what + text.slice(at + what.length);
      }),
    );
    fc.assert(
      fc.property(anything, (text) => {
        const failure =
          failureOf(text) ?? new BrokerError({ code: 'invalid-parameters', description: 'read' });
        expect(failure).toBeInstanceOf(BrokerError);
        expect(inspect(failure)).not.toMatch(/hunter/);
      }),
    );
  });
});
