// E: how failures are told (OSB 2.17, Service Broker Errors). The form of each is asked by the harness of every answer;
// here is which status and word there is, and that a refusal has done nothing.

import { describe, expect, it } from 'vitest';
import type { Answer } from '../osb-client.ts';
import { bindingPath, freshId, instancePath, type OpenSubject, type Subject } from '../subject.ts';

const NOBODY = 'nobody-has-this-instance';

type Refusal = (subject: Subject, instance: string) => Promise<Answer>;

/** Each is asked of an instance that is ready. */
const REFUSALS: readonly [string, number, string | undefined, Refusal][] = [
  [
    'a body without what is required',
    400,
    undefined,
    (subject) => subject.put(NOBODY, { space_guid: '' }),
  ],
  [
    'a plan that is not in the catalog',
    400,
    undefined,
    (subject) => subject.put(NOBODY, { plan_id: 'no-such-plan' }),
  ],
  [
    'a service that is not in the catalog',
    400,
    undefined,
    (subject) => subject.put(NOBODY, { service_id: 'no-such-service' }),
  ],
  [
    'other parameters of an instance',
    409,
    undefined,
    (subject, instance) =>
      subject.put(instance, { parameters: { ...subject.offer.parameters, name: 'another' } }),
  ],
  [
    'provisioning without accepts_incomplete',
    422,
    'AsyncRequired',
    (subject) =>
      subject.osb.call({ method: 'PUT', path: instancePath(NOBODY), body: subject.provisioning() }),
  ],
  [
    'a maintenance version that no plan has',
    422,
    'MaintenanceInfoConflict',
    (subject) => subject.put(NOBODY, { maintenance_info: { version: '1.0.0+build' } }),
  ],
  [
    'an instance that is not there',
    404,
    undefined,
    ({ osb }) => osb.call({ path: instancePath(NOBODY) }),
  ],
  ['deleting one that is not there', 410, undefined, (subject) => subject.delete(NOBODY)],
  ['binding to one that is not there', 404, undefined, (subject) => subject.bind(NOBODY, 'b')],
  [
    'a lifetime that is too short',
    400,
    undefined,
    (subject, instance) => subject.bind(instance, 'b', { parameters: { expiration_seconds: 0 } }),
  ],
  [
    'a rotation, which no plan offers',
    400,
    undefined,
    (subject, instance) => subject.bind(instance, 'b', { predecessor_binding_id: 'a' }),
  ],
  [
    'a binding that is not there',
    404,
    undefined,
    ({ osb }, instance) => osb.call({ path: bindingPath(instance, NOBODY) }),
  ],
  [
    'unbinding one that is not there',
    410,
    undefined,
    (subject, instance) => subject.unbind(instance, NOBODY),
  ],
  [
    'deleting without accepts_incomplete',
    422,
    'AsyncRequired',
    ({ osb, offerQuery }, instance) =>
      osb.call({ method: 'DELETE', path: `${instancePath(instance)}?${offerQuery}` }),
  ],
];

export function errorCases(open: OpenSubject): void {
  describe('a failure', () => {
    forms(open);
    secrets(open);
    traces(open);
  });
}

function forms(open: OpenSubject): void {
  it.each(REFUSALS)('C26, C27: of %s is %d, with the word %s', async (...row) => {
    const [, status, word, ask] = row;
    const subject = open();
    const answer = await ask(subject, await subject.instance());

    expect([answer.status, answer.body['error']]).toEqual([status, word]);
  });

  it.each(REFUSALS)('C28: of %s says nothing of what can still be used', async (...row) => {
    const ask = row[3];
    const subject = open();
    const { body } = await ask(subject, await subject.instance());

    expect(Object.keys(body).filter((field) => !['error', 'description'].includes(field))).toEqual(
      [],
    );
  });

  it.each([
    ['with what else belongs to it', { version: '1.0.0', description: 'An upgrade.', other: 1 }],
    ['with an empty version', { version: '' }],
  ])('C67: of a version that the plan does not have is told %s', async (_, maintenance) => {
    const answer = await open().put(NOBODY, { maintenance_info: maintenance });

    expect([answer.status, answer.body['error']]).toEqual([422, 'MaintenanceInfoConflict']);
  });

  it('C29: AsyncRequired has the sentence that old clients know it by', async () => {
    const subject = open();
    const path = instancePath(NOBODY);
    const { body } = await subject.osb.call({ method: 'PUT', path, body: subject.provisioning() });

    expect(body['description']).toBe(
      'This service plan requires client support for asynchronous service operations.',
    );
  });
}

const SECRET = 'a-secret-in-the-wrong-place';

function secrets(open: OpenSubject): void {
  it.each<[string, Refusal]>([
    [
      'the body',
      ({ osb }) => osb.call({ method: 'PUT', path: instancePath(NOBODY), body: SECRET }),
    ],
    ['a field of the wrong type', (subject) => subject.put(NOBODY, { space_guid: [SECRET] })],
    ['an id of a plan', (subject) => subject.put(NOBODY, { plan_id: SECRET })],
    [
      'a parameter',
      (subject) => subject.put(NOBODY, { parameters: { kubeconfig: SECRET, name: 1 } }),
    ],
    [
      'a parameter of a bind',
      (subject, instance) =>
        subject.bind(instance, 'b', { parameters: { expiration_seconds: SECRET } }),
    ],
    [
      'a query',
      ({ osb }) => osb.call({ method: 'DELETE', path: `${instancePath(NOBODY)}?a=${SECRET}` }),
    ],
    ['a path', ({ osb }) => osb.call({ path: `/v2/${SECRET}` })],
    [
      'a version',
      ({ osb }) => osb.call({ path: '/v2/catalog', headers: { 'x-broker-api-version': SECRET } }),
    ],
    [
      'credentials',
      ({ osb }) => osb.call({ path: '/v2/catalog', headers: { authorization: SECRET } }),
    ],
  ])('C30: does not repeat what stands in %s', async (_, ask) => {
    const subject = open();
    const answer = await ask(subject, await subject.instance());

    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.text).not.toContain(SECRET);
  });
}

function traces(open: OpenSubject): void {
  it('C31: with 4xx leaves instance, operation and binding as they were', async () => {
    const subject = open();
    const instance = await subject.instance();
    const binding = freshId();
    await subject.bind(instance, binding);
    const look = async () => {
      const paths = [
        instancePath(instance),
        `${instancePath(instance)}/last_operation`,
        bindingPath(instance, binding),
        `${bindingPath(instance, binding)}/last_operation`,
        instancePath(NOBODY),
        bindingPath(instance, 'b'),
      ];
      const answers: (readonly [number, string])[] = [];
      for (const path of paths) {
        const { status, text } = await subject.osb.call({ path });
        answers.push([status, status === 200 ? text : '']);
      }
      return answers;
    };
    const before = await look();
    for (const [, , , ask] of REFUSALS) await ask(subject, instance);

    expect(await look()).toEqual(before);
    expect(before.map(([status]) => status)).toEqual([200, 200, 200, 200, 404, 404]);
    await subject.unbind(instance, binding);
  });
}
