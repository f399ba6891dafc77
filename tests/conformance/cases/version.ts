// A: the API version, which every request names (OSB 2.17, API Version Header).

import { describe, expect, it } from 'vitest';
import { VERSION } from '../osb-client.ts';
import { ROUTES } from '../routes.ts';
import type { OpenSubject } from '../subject.ts';

export function versionCases(open: OpenSubject): void {
  describe('the API version', () => {
    refused(open);
    served(open);
  });
}

function refused(open: OpenSubject): void {
  it.each(ROUTES)('C1, C4: is needed for $title: without it 412', async ({ call }) => {
    const subject = open();
    const asked = call(subject);
    for (const prefix of subject.prefixes) {
      const path = prefix + asked.path;
      const answer = await subject.osb.call({
        ...asked,
        path,
        headers: { [VERSION]: undefined },
      });

      expect([prefix, answer.status]).toEqual([prefix, 412]);
      expect(answer.body['description']).toMatch(/X-Broker-API-Version.*missing/);
    }
  });

  it('C1: counts as missing when it is empty', async () => {
    const answer = await open().osb.call({ path: '/v2/catalog', headers: { [VERSION]: '' } });

    expect(answer.status).toBe(412);
  });

  it.each(ROUTES)('C2, C4: is one we serve for $title: 1.0 is 412', async ({ call }) => {
    const subject = open();
    const { osb } = subject;
    const answer = await osb.call({ ...call(subject), headers: { [VERSION]: '1.0' } });

    expect(answer.status).toBe(412);
  });

  it.each(['1.9', '3.0', 'abc', '2', '2.12', '2.x', '2.17.1', '02.17'])(
    'C2: is not %j: 412, and a version to use instead',
    async (version) => {
      const headers = { [VERSION]: version };
      const answer = await open().osb.call({ path: '/v2/catalog', headers });

      expect(answer.status).toBe(412);
      expect(answer.body['description']).toContain('2.17');
    },
  );
}

function served(open: OpenSubject): void {
  it.each(['2.13', '2.14', '2.15', '2.16', '2.17', '2.18', '2.99'])(
    'C3: may be %s',
    async (version) => {
      const headers = { [VERSION]: version };

      expect((await open().osb.call({ path: '/v2/catalog', headers })).status).toBe(200);
    },
  );

  it.each([
    ['with blanks around it', ' 2.17 ', 200],
    ['twice the same', ['2.17', '2.17'], 200],
    ['twice, and differing', ['2.16', '2.17'], 400],
  ])('C5: may be given %s', async (_, version, status) => {
    const headers = { [VERSION]: version };

    expect((await open().osb.call({ path: '/v2/catalog', headers })).status).toBe(status);
  });
}
