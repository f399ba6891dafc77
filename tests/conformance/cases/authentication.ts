// B: who asks (OSB 2.17, Platform to Service Broker Authentication). A stranger learns nothing, not even what exists.

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { basic, VERSION } from '../osb-client.ts';
import { ROUTES } from '../routes.ts';
import { bindingPath, instancePath, type OpenSubject, type Subject } from '../subject.ts';

type Credentials = (subject: Subject) => string | undefined;

const STRANGERS: readonly [string, Credentials][] = [
  ['nothing', () => undefined],
  ['an empty header', () => ''],
  ['the scheme alone', () => 'Basic'],
  ['another scheme', ({ osb }) => osb.authorization.replace('Basic', 'Bearer')],
  ['a token', () => `Bearer ${randomUUID()}`],
  ['no scheme', ({ osb }) => osb.authorization.replace('Basic ', '')],
  ['what is not base64', () => 'Basic %%%'],
  ['no colon', ({ osb }) => basic(osb.username)],
  ['nothing but a colon', () => basic(':')],
  ['another password', ({ osb }) => basic(`${osb.username}:${osb.password}x`)],
  ['half of the password', ({ osb }) => basic(`${osb.username}:${osb.password.slice(0, -1)}`)],
  ['no password', ({ osb }) => basic(`${osb.username}:`)],
  ['another name', ({ osb }) => basic(`somebody-else:${osb.password}`)],
  ['the name in upper case', ({ osb }) => basic(`${osb.username.toUpperCase()}:${osb.password}`)],
  ['a NUL behind', ({ osb }) => basic(`${osb.username}:${osb.password}\0`)],
  ['credentials in clear', ({ osb }) => `Basic ${osb.username}:${osb.password}`],
];

export function authenticationCases(open: OpenSubject): void {
  describe('credentials', () => {
    strangers(open);
    precedence(open);
    friends(open);
  });
}

function strangers(open: OpenSubject): void {
  it.each(STRANGERS)('C6, C8: are needed on every route; with %s it is 401', async (_, given) => {
    const subject = open();
    for (const { title, call } of ROUTES) {
      const headers = { authorization: given(subject) };
      const answer = await subject.osb.call({ ...call(subject), headers });

      expect([title, answer.status]).toEqual([title, 401]);
      expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/);
    }
  });

  it.each(ROUTES)('C6: are needed for $title under every mount', async ({ call }) => {
    const subject = open();
    const asked = call(subject);
    for (const prefix of subject.prefixes) {
      const path = prefix + asked.path;
      const headers = { authorization: undefined };
      const answer = await subject.osb.call({ ...asked, path, headers });

      expect([prefix, answer.status]).toEqual([prefix, 401]);
    }
  });

  it('C6: a stranger is told the same, whether an id exists or not', async () => {
    const subject = open();
    const instance = await subject.instance();
    const headers = { authorization: undefined };
    const asStranger = async (path: string) => {
      const { status, text } = await subject.osb.call({ path, headers });
      return [status, text];
    };

    expect(await asStranger(instancePath(instance))).toEqual(
      await asStranger(instancePath('nobody-has-this')),
    );
    expect(await asStranger(`${instancePath(instance)}/last_operation`)).toEqual(
      await asStranger(bindingPath(instance, 'nobody-has-this')),
    );
  });
}

function precedence(open: OpenSubject): void {
  const headers = { authorization: undefined };

  it('C8: 401 wins over a missing version', async () => {
    const answer = await open().osb.call({
      path: '/v2/catalog',
      headers: { ...headers, [VERSION]: undefined },
    });

    expect(answer.status).toBe(401);
  });

  it.each([
    ['a path that is no route', 'GET', '/v2/nothing'],
    ['a method that is not taken', 'POST', '/v2/catalog'],
    ['a broken percent sequence', 'GET', '/v2/service_instances/%zz'],
    ['an id that is none', 'GET', '/v2/service_instances/..'],
    ['another mount', 'GET', '/v2'],
  ])('C8: 401 wins over %s', async (_, method, path) => {
    expect((await open().osb.call({ method, path, headers })).status).toBe(401);
  });

  it.each([
    ['that is not JSON', '{'],
    ['that is too large', `"${'x'.repeat(2 * 1024 * 1024)}"`],
  ])('C8: 401 wins over a body %s', async (_, body) => {
    const path = instancePath('nobody-has-this');

    expect((await open().osb.call({ method: 'PUT', path, body, headers })).status).toBe(401);
  });

  it('C8: 401 wins over a conflict', async () => {
    const subject = open();
    const path = `${instancePath(await subject.instance())}?accepts_incomplete=true`;
    const body = subject.provisioning({ parameters: { name: 'another' } });

    expect((await subject.osb.call({ method: 'PUT', path, body, headers })).status).toBe(401);
  });
}

function friends(open: OpenSubject): void {
  it.each([
    ['as platforms send them', (right: string) => right],
    ['with the scheme in lower case', (right: string) => right.replace('Basic', 'basic')],
    ['with more than one blank', (right: string) => right.replace(' ', '   ')],
  ])('C7: are basic ones, %s', async (_, written) => {
    const { osb } = open();
    const headers = { authorization: written(osb.authorization) };

    expect((await osb.call({ path: '/v2/catalog', headers })).status).toBe(200);
  });

  it('C7: come with every request: nothing is remembered of the last one', async () => {
    const { osb } = open();
    const first = await osb.call({ path: '/v2/catalog' });

    expect(first.headers['set-cookie']).toBeUndefined();
    expect(
      (await osb.call({ path: '/v2/catalog', headers: { authorization: undefined } })).status,
    ).toBe(401);
  });

  it('C9: the mounts of one broker share their ids, on purpose', async () => {
    const subject = open();
    const instance = await subject.instance();
    for (const prefix of subject.prefixes) {
      const path = `${instancePath(instance, prefix)}?accepts_incomplete=true`;
      const body = subject.provisioning();
      const answer = await subject.osb.call({ method: 'PUT', path, body });

      expect([prefix, answer.status]).toEqual([prefix, 200]);
    }
  });
}
