// D, ids: everything that a platform may invent is one, and decoded once (OSB 2.17, URL Properties).

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { OpenSubject } from '../subject.ts';

/** As they stand in the request line. */
const GOOD: Readonly<Record<string, string>> = {
  'a GUID': '5b0e1b3a-6f1c-4a9b-9d3a-0f6f3c2b1a00',
  'one character': 'x',
  'unreserved characters': 'aZ09-._~',
  'three dots': '...',
  'a slash': 'a%2Fb',
  'a path upwards': '..%2F..%2Fetc',
  'an escaped dot, decoded once': '%252e%252e',
  'a blank': 'a%20b',
  'a plus': 'a+b',
  'a percent sign': '100%25',
  'a question mark and a hash': 'a%3Fb%23c',
  'delimiters of a query': 'a%26b%3Dc',
  'a semicolon': 'a;b=c',
  quotes: 'it%27s%22',
  'a statement': "x'%3B%20drop%20table%20instances%3B--",
  'a line break': 'a%0Ab',
  'a control character': 'a%01b',
  'another script': '%D0%BA%D0%BB%D1%8E%D1%87',
  'one character of four bytes': '%F0%9F%94%91',
  'a word of the language': '__proto__',
  'a method of objects': 'constructor',
  'the last word of a route': 'last_operation',
  'a part of a route': 'service_bindings',
  'a wildcard': '*',
  'a parameter of a router': ':instance_id',
  '255 characters': 'i'.repeat(255),
  '255 characters of four bytes each': '%F0%9F%94%91'.repeat(255),
};

const BAD: Readonly<Record<string, string>> = {
  'a dot': '.',
  'an escaped dot': '%2E',
  'two dots': '..',
  'two escaped dots': '%2e%2E',
  'a NUL': 'a%00b',
  'bytes that are not UTF-8': '%FF',
  'half a character': '%C3',
  'a slash written too long': '%C0%AF',
  'half of a surrogate pair': '%ED%A0%80',
  'half a percent sequence': 'a%2',
  'a lone percent sign': 'a%',
  'a percent sequence of no digits': '%zz',
  '256 characters': 'i'.repeat(256),
  '256 characters of four bytes each': '%F0%9F%94%91'.repeat(256),
  nothing: '',
};

export function idCases(open: OpenSubject): void {
  describe('an id', () => {
    goodIds(open);
    badIds(open);
  });
}

function goodIds(open: OpenSubject): void {
  it.each(Object.entries(GOOD))('C24: may be or have %s', async (_, id) => {
    const { osb, offerQuery, prefixes } = open();
    for (const prefix of prefixes) {
      const instance = `${prefix}/v2/service_instances/${id}`;
      const binding = `${instance}/service_bindings/${id}`;
      const answers = [
        await osb.call({ path: instance }),
        await osb.call({ path: `${instance}/last_operation` }),
        await osb.call({
          method: 'DELETE',
          path: `${instance}?accepts_incomplete=true&${offerQuery}`,
        }),
        await osb.call({ path: binding }),
        await osb.call({ path: `${binding}/last_operation` }),
        await osb.call({ method: 'DELETE', path: `${binding}?${offerQuery}` }),
      ];

      expect(answers.map(({ status }) => status)).toEqual([404, 404, 410, 404, 404, 410]);
      expect(answers[0]?.body['description']).not.toBe('There is no such route.');
    }
  });

  it.each([
    ['a path', '..%2F..%2F', '../../'],
    ['255 characters, nearly all of four bytes', '%F0%9F%94%91'.repeat(219), '🔑'.repeat(219)],
  ])('C24: names one instance and one binding through their lives: %s', async (...row) => {
    const [, startAsSent, start] = row;
    const subject = open();
    const end = randomUUID();
    const [sent, id] = [startAsSent + end, start + end];
    const path = `/v2/service_instances/${sent}`;
    const accepted = await subject.osb.call({
      method: 'PUT',
      path: `${path}?accepts_incomplete=true`,
      body: subject.provisioning(),
    });
    const { state } = await subject.settled(id);
    const bound = await subject.osb.call({
      method: 'PUT',
      path: `${path}/service_bindings/${sent}`,
      body: subject.offerFields,
    });
    const fetched = await subject.osb.call({ path: `${path}/service_bindings/${sent}` });
    const twiceEncoded = `${path}/service_bindings/${sent.replaceAll('%', '%25')}`;
    const other = await subject.osb.call({ path: twiceEncoded });
    const unbound = await subject.unbind(id, id);
    await subject.deprovision(id);

    expect([accepted.status, state, bound.status]).toEqual([202, 'succeeded', 201]);
    expect(fetched.body['credentials']).toEqual(bound.body['credentials']);
    expect([other.status, unbound.status]).toEqual([twiceEncoded.length > 4000 ? 400 : 404, 200]);
    expect((await subject.osb.call({ path })).status).toBe(404);
  });
}

function badIds(open: OpenSubject): void {
  it.each(Object.entries(BAD))('C25: must not be or have %s: 400', async (_, id) => {
    const subject = open();
    const { osb, offerQuery } = subject;
    for (const prefix of subject.prefixes) {
      const instance = `${prefix}/v2/service_instances/${id}`;
      const binding = `${prefix}/v2/service_instances/i/service_bindings/${id}`;
      const body = subject.provisioning();
      const answers = [
        await osb.call({ path: instance }),
        await osb.call({ method: 'PUT', path: `${instance}?accepts_incomplete=true`, body }),
        await osb.call({ path: `${instance}/last_operation` }),
        await osb.call({
          method: 'DELETE',
          path: `${instance}?accepts_incomplete=true&${offerQuery}`,
        }),
        await osb.call({ path: binding }),
        await osb.call({ method: 'PUT', path: binding, body: subject.offerFields }),
        await osb.call({ path: `${binding}/last_operation` }),
        await osb.call({ method: 'DELETE', path: `${binding}?${offerQuery}` }),
      ];

      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(400));
    }
  });

  it('C25: a broken percent sequence is as wrong in a query', async () => {
    const { osb } = open();
    const path = '/v2/service_instances/i/last_operation?operation=%zz';

    expect((await osb.call({ path })).status).toBe(400);
  });
}
