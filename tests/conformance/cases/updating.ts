// K: updating (OSB 2.17, Updating a Service Instance), as far as it holds for any broker: what a plan lets change is its
// own business, so what is accepted is left to the tests of each plan.

import { expect, describe, it } from 'vitest';
import type { Answer } from '../osb-client.ts';
import { instancePath, type OpenSubject, type Subject } from '../subject.ts';

export function updateCases(open: OpenSubject): void {
  describe('an update', () => {
    ofWhat(open);
    ofNothing(open);
  });
}

function patch(
  { osb, offer }: Subject,
  instance: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  return osb.call({
    method: 'PATCH',
    path: `${instancePath(instance)}?accepts_incomplete=true`,
    body: { service_id: offer.serviceId, ...body },
  });
}

function ofWhat(open: OpenSubject): void {
  it.each([
    ['no service', { service_id: null }],
    ['a service that nobody offers', { service_id: 'nobody-offers-this' }],
    ['a plan that nobody offers', { plan_id: 'nobody-offers-this' }],
    ['parameters that are no object', { parameters: 'text' }],
    ['a context that is no object', { context: 'text' }],
  ])('C87, C88: that names %s is 400', async (_, body) => {
    const subject = open();
    const instance = await subject.instance();
    expect((await patch(subject, instance, body)).status).toBe(400);
  });

  it('C97: of an instance that nobody has is 404', async () => {
    expect((await patch(open(), 'nobody-has-this-instance', { context: {} })).status).toBe(404);
  });

  it('C92: to a maintenance version that the plan does not have is MaintenanceInfoConflict', async () => {
    const subject = open();
    const body = { maintenance_info: { version: '999.0.0-nobody-has-this' } };
    const answer = await patch(subject, await subject.instance(), body);
    expect([answer.status, answer.body['error']]).toEqual([422, 'MaintenanceInfoConflict']);
  });
}

function ofNothing(open: OpenSubject): void {
  it.each([
    ['nothing', {}],
    ['null', { plan_id: null, parameters: null, context: null, maintenance_info: null }],
    ['context alone', { context: { platform: 'test', instance_name: 'renamed' } }],
    ['what it was before', { previous_values: { plan_id: 'other', organization_id: 7 } }],
  ])('C94, C96: to %s is 200 and changes nothing', async (_, body) => {
    const subject = open();
    const instance = await subject.instance();
    const path = instancePath(instance);
    const before = await subject.osb.call({ path });

    const answer = await patch(subject, instance, body);

    expect([answer.status, answer.body]).toEqual([200, {}]);
    expect((await subject.osb.call({ path })).body).toEqual(before.body);
  });
}
