import { describe, expect, it } from 'vitest';

import { reachedTheBroker, refusingServer, send } from '../../../tests/support/refusing-server.ts';

const INSTANCE = '/v2/service_instances/i-1';

const PROVISION = {
  service_id: 's',
  plan_id: 'p',
  organization_guid: 'o',
  space_guid: 's',
};

describe('a body that OSB allows is not refused for its form', () => {
  it.each([
    [
      'unknown fields at every level',
      { x: 1, context: { y: [] }, maintenance_info: { version: '1', z: {} } },
    ],
    ['optional fields that are null', { context: null, parameters: null, maintenance_info: null }],
    ['null inside them', { context: { platform: null, user_id: null } }],
    ['an account of 255 characters', { context: { globalaccount_id: '😀'.repeat(255) } }],
    [
      'the context of Cloud Foundry',
      { context: { platform: 'cloudfoundry', instance_annotations: {} } },
    ],
    ['a key of JavaScript', JSON.parse('{"__proto__":{"a":1},"constructor":{}}') as object],
  ])('for an instance: %s', async (_, fields) => {
    const refusing = refusingServer();
    const payload = { ...PROVISION, ...fields };
    await send(refusing.server, { method: 'PUT', url: INSTANCE, payload });

    expect(reachedTheBroker(refusing)).toBe(true);
  });

  it.each([
    ['nothing more', {}],
    ['an application and its resource', { app_guid: '', bind_resource: { app_guid: 'a', x: 1 } }],
    ['optional fields that are null', { app_guid: null, bind_resource: null, context: null }],
    ['parameters that are null', { parameters: null, predecessor_binding_id: null }],
    ['a lifetime that is null', { parameters: { expiration_seconds: null } }],
    ['a lifetime that will be out of bounds', { parameters: { expiration_seconds: 0 } }],
    ['a mail address', { context: { email: 'a@example.org', origin: 'ldap', x: 1 } }],
  ])('for a binding: %s', async (_, fields) => {
    const refusing = refusingServer();
    const payload = { service_id: 's', plan_id: 'p', ...fields };
    await send(refusing.server, {
      method: 'PUT',
      url: `${INSTANCE}/service_bindings/b-1`,
      payload,
    });

    expect(reachedTheBroker(refusing)).toBe(true);
  });

  it.each([
    ['GET', INSTANCE],
    ['GET', `${INSTANCE}?service_id=&plan_id=x`],
    ['GET', `${INSTANCE}/last_operation`],
    ['GET', `${INSTANCE}/last_operation?operation=&service_id=s`],
    ['GET', `${INSTANCE}/service_bindings/b-1`],
    ['GET', `${INSTANCE}/service_bindings/b-1/last_operation?operation=x`],
    ['DELETE', `${INSTANCE}?service_id=s&plan_id=p&accepts_incomplete=TRUE`],
    ['DELETE', `${INSTANCE}/service_bindings/b-1?service_id=s&plan_id=p`],
    ['GET', '/oauth/v2/service_instances/i-1'],
    ['GET', '/oauth/cf-eu10/v2/service_instances/i-1'],
  ] as const)('%s %s', async (method, url) => {
    const refusing = refusingServer();
    await send(refusing.server, { method, url });

    expect(reachedTheBroker(refusing)).toBe(true);
  });

  it('ignores a malformed originating identity, and says so in the log', async () => {
    const refusing = refusingServer();
    const payload = { service_id: 's', plan_id: 'p' };
    const headers = {
      'x-broker-api-originating-identity': 'cloudfoundry not-json',
      'x-broker-api-request-identity': 'r-1',
    };
    const url = `${INSTANCE}/service_bindings/b-1`;
    await send(refusing.server, { method: 'PUT', url, headers, payload });

    expect(reachedTheBroker(refusing)).toBe(true);
    expect(refusing.log()[0]).toMatchObject({
      level: 'warn',
      requestIdentity: 'r-1',
      msg: 'a malformed originating identity was ignored',
    });
  });
});
