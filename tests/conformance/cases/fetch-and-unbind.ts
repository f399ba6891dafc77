// P and Q: fetching a binding, how it goes, unbinding, and the DELETE that a platform sends after whatever was answered
// (OSB 2.17, Fetching a Service Binding, Unbinding, Orphan Mitigation).

import { describe, expect, it } from 'vitest';
import { credentialsOf, statusWithToken } from '../credential.ts';
import { bindingPath, freshId, instancePath, type OpenSubject } from '../subject.ts';

const NOBODY = 'nobody-has-this';

export function fetchAndUnbindCases(open: OpenSubject): void {
  describe('a binding', () => {
    fetched(open);
    polled(open);
  });
  describe('an unbind', () => {
    demanded(open);
    done(open);
  });
  describe('a DELETE', () => {
    mitigating(open);
  });
}

function fetched(open: OpenSubject): void {
  it('C137, C138: is fetched as it was handed out, with its parameters', async () => {
    const subject = open();
    const instance = await subject.instance();
    const binding = freshId();
    const parameters = { expiration_seconds: 1200 };
    const bound = await subject.bind(instance, binding, { parameters });
    const path = bindingPath(instance, binding);
    const answer = await subject.osb.call({ path });
    const hinted = await subject.osb.call({ path: `${path}?service_id=x&plan_id=y` });
    await subject.unbind(instance, binding);

    expect([answer.status, answer.body]).toEqual([200, { ...bound.body, parameters }]);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect([hinted.status, hinted.body]).toEqual([200, answer.body]);
  });

  it('C137: is 404 when nobody has it, and under an instance that is not its own', async () => {
    const subject = open();
    const { osb } = subject;
    const instance = await subject.instance();
    const binding = freshId();
    await subject.bind(instance, binding);
    const statuses = [
      await osb.call({ path: bindingPath(instance, NOBODY) }),
      await osb.call({ path: bindingPath(NOBODY, binding) }),
      await osb.call({ path: bindingPath(instance, binding.toUpperCase()) }),
    ].map(({ status }) => status);
    await subject.unbind(instance, binding);

    expect(statuses).toEqual([404, 404, 404]);
  });
}

function polled(open: OpenSubject): void {
  it('C139, C140: is told as succeeded while it lives, and as 404 before and after', async () => {
    const subject = open();
    const instance = await subject.instance();
    const binding = freshId();
    const path = `${bindingPath(instance, binding)}/last_operation`;
    const before = await subject.osb.call({ path });
    await subject.bind(instance, binding);
    const [first, second] = [
      await subject.osb.call({ path }),
      await subject.osb.call({ path: `${path}?operation=x&service_id=y` }),
    ];
    await subject.unbind(instance, binding);
    const after = await subject.osb.call({ path });

    expect([before.status, after.status]).toEqual([404, 404]);
    expect([first.status, first.body]).toEqual([200, { state: 'succeeded' }]);
    expect(second.body).toEqual(first.body);
    expect(first.headers['retry-after'] ?? '1').toMatch(/^\d+$/);
  });
}

function demanded(open: OpenSubject): void {
  it.each([
    '',
    'service_id=SERVICE',
    'plan_id=PLAN',
    'service_id=&plan_id=PLAN',
    'service_id=SERVICE&plan_id=',
  ])(
    'C141: without both ids (%j) is 400, whether there is something to unbind or not',
    async (query) => {
      const subject = open();
      const { serviceId, planId } = subject.offer;
      const instance = await subject.instance();
      const binding = freshId();
      await subject.bind(instance, binding);
      const given = query.replace('SERVICE', serviceId).replace('PLAN', planId);
      for (const id of [binding, NOBODY]) {
        const path = `${bindingPath(instance, id)}?${given}`;
        expect((await subject.osb.call({ method: 'DELETE', path })).status).toBe(400);
      }
      expect((await subject.unbind(instance, binding)).status).toBe(200);
    },
  );

  it('C141: of what nobody has is 410, and of an instance that nobody has', async () => {
    const subject = open();
    const instance = await subject.instance();

    expect((await subject.unbind(instance, NOBODY)).status).toBe(410);
    expect((await subject.unbind(NOBODY, NOBODY)).status).toBe(410);
  });

  it('C144: with ids that the catalog no longer has is done all the same', async () => {
    const subject = open();
    const instance = await subject.instance();
    const binding = freshId();
    await subject.bind(instance, binding);
    const path = `${bindingPath(instance, binding)}?service_id=gone&plan_id=gone`;

    expect((await subject.osb.call({ method: 'DELETE', path })).status).toBe(200);
  });
}

function done(open: OpenSubject): void {
  it('C142: is 200 {} once the cluster refuses the token, then 410', async () => {
    const subject = open();
    const instance = await subject.instance();
    const binding = freshId();
    const bound = await subject.bind(instance, binding);
    const worked = await statusWithToken(credentialsOf(bound));
    const first = await subject.unbind(instance, binding);
    const works = await statusWithToken(credentialsOf(bound));
    const second = await subject.unbind(instance, binding);

    expect(worked).toBe(200);
    expect([first.status, first.body]).toEqual([200, {}]);
    expect(works).toBeOneOf([401, 403]);
    expect([second.status, second.body]).toEqual([410, {}]);
  });

  it('C142: gives the id back, for a credential that is another one', async () => {
    const subject = open();
    const instance = await subject.instance();
    const binding = freshId();
    const first = await subject.bind(instance, binding);
    await subject.unbind(instance, binding);
    const second = await subject.bind(instance, binding);
    const works = await statusWithToken(credentialsOf(first));
    await subject.unbind(instance, binding);

    expect(second.status).toBe(201);
    expect(credentialsOf(second).token).not.toBe(credentialsOf(first).token);
    expect(works).toBeOneOf([401, 403]);
  });

  it('C144: of an instance that is deleted, its bindings with it, is 410', async () => {
    const subject = open();
    const instance = await subject.provision();
    const bound = await subject.bind(instance, 'left-over');
    await subject.deprovision(instance);

    expect((await subject.unbind(instance, 'left-over')).status).toBe(410);
    expect([401, 403, 404]).toContain(await refusalOf(bound));
  });
}

/** A cluster of the sandbox goes with its instance, and then nobody answers at all. */
async function refusalOf(bound: Parameters<typeof credentialsOf>[0]): Promise<number> {
  return await statusWithToken(credentialsOf(bound)).catch(() => 404);
}

function mitigating(open: OpenSubject): void {
  it.each([
    ['400', { space_guid: '' }],
    ['400 for parameters', { parameters: { unknownParameter: 1 } }],
    ['422', { maintenance_info: { version: '1.0.0' } }],
  ])('C146: after a PUT that was %s is 410, however often', async (_, changes) => {
    const subject = open();
    const instance = freshId();
    await subject.put(instance, changes);
    const answers = [
      await subject.delete(instance),
      await subject.delete(instance),
      await subject.unbind(instance, 'b'),
    ];

    expect(answers.map(({ status, body }) => [status, body])).toEqual(Array(3).fill([410, {}]));
  });

  it('C146: after a PUT that was accepted or done is 202, the same while it runs, and 410 at its end', async () => {
    const subject = open();
    const instance = await subject.provision();
    const first = await subject.delete(instance);
    await subject.settled(instance);

    expect(first.status).toBe(202);
    expect((await subject.delete(instance)).status).toBe(410);
  });

  it('C146: after a bind that was refused or done is 410 or 200', async () => {
    const subject = open();
    const instance = await subject.instance();
    await subject.bind(instance, 'refused', { plan_id: 'x' });
    await subject.bind(instance, 'done');

    expect((await subject.unbind(instance, 'refused')).status).toBe(410);
    expect((await subject.unbind(instance, 'done')).status).toBe(200);
  });

  it('C146: names ids of a catalog that is gone, and is answered all the same', async () => {
    const query = 'accepts_incomplete=true&service_id=gone&plan_id=gone';
    const path = `${instancePath(NOBODY)}?${query}`;

    expect((await open().osb.call({ method: 'DELETE', path })).status).toBe(410);
  });
}
