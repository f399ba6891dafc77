// N: binding (OSB 2.17, Binding): which requests are good, and what is handed out.

import { describe, expect, it } from 'vitest';
import { credentialsOf, metadataOf, statusWithToken } from '../credential.ts';
import type { Answer } from '../osb-client.ts';
import { bindingPath, freshId, instancePath, type OpenSubject } from '../subject.ts';

const NOBODY = 'nobody-has-this';

/** UTC with one fraction digit, as the sample of OSB has it. */
const WIRE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\dZ$/;

export function bindCases(open: OpenSubject): void {
  describe('a bind', () => {
    refused(open);
    repeated(open);
    accepted(open);
  });
  describe('a binding', () => {
    handedOut(open);
    apart(open);
  });
}

/** Binds, hands the answer over, and unbinds. */
async function withBinding(
  open: OpenSubject,
  look: (bound: Answer, instance: string, binding: string) => Promise<void> | void,
): Promise<void> {
  const subject = open();
  const instance = await subject.instance();
  const binding = freshId();
  try {
    await look(await subject.bind(instance, binding), instance, binding);
  } finally {
    await subject.unbind(instance, binding);
  }
}

function refused(open: OpenSubject): void {
  it.each([
    ['no service_id', { service_id: undefined }],
    ['no plan_id', { plan_id: undefined }],
    ['an empty service_id', { service_id: '' }],
    ['a service that nobody has', { service_id: NOBODY }],
    ['a plan that nobody has', { plan_id: NOBODY }],
    ['a lifetime that is a text', { parameters: { expiration_seconds: '900' } }],
    ['a lifetime that is no whole number', { parameters: { expiration_seconds: 900.5 } }],
    ['a lifetime of 0', { parameters: { expiration_seconds: 0 } }],
    ['a lifetime below nothing', { parameters: { expiration_seconds: -900 } }],
    ['a lifetime too short', { parameters: { expiration_seconds: 599 } }],
    ['a lifetime too long', { parameters: { expiration_seconds: 7201 } }],
    ['a lifetime beyond numbers', { parameters: { expiration_seconds: 1e300 } }],
    ['a parameter that nobody knows', { parameters: { expiration: 900 } }],
  ])('C121: with %s is 400, and nothing is made', async (_, changes) => {
    const subject = open();
    const instance = await subject.instance();
    const binding = freshId();
    const answer = await subject.bind(instance, binding, changes);

    expect(answer.status).toBe(400);
    expect((await subject.unbind(instance, binding)).status).toBe(410);
  });

  it('C129: to an instance that nobody has is 404, not 410', async () => {
    expect((await open().bind(NOBODY, 'b')).status).toBe(404);
  });

  it('C129: to an instance that is deleted is 404', async () => {
    const subject = open();
    const instance = await subject.provision();
    await subject.deprovision(instance);

    expect((await subject.bind(instance, 'b')).status).toBe(404);
  });
}

function repeated(open: OpenSubject): void {
  it('C122, C123: is 201, and 200 with the very same when it is repeated', async () => {
    await withBinding(open, async (bound, instance, binding) => {
      const again = await open().bind(instance, binding);

      expect([bound.status, again.status]).toEqual([201, 200]);
      expect(again.body).toEqual(bound.body);
    });
  });

  it('C123: is repeated whatever else the request says, as long as its parameters are the same', async () => {
    await withBinding(open, async (bound, instance, binding) => {
      const again = await open().bind(instance, binding, {
        parameters: {},
        context: { platform: 'another' },
        app_guid: 'another',
      });

      expect([again.status, again.body]).toEqual([200, bound.body]);
    });
  });

  it('C124: is 409 with other parameters, and what lives lives on', async () => {
    await withBinding(open, async (bound, instance, binding) => {
      const other = await open().bind(instance, binding, {
        parameters: { expiration_seconds: 900 },
      });

      expect(other.status).toBe(409);
      expect(await statusWithToken(credentialsOf(bound))).toBe(200);
    });
  });
}

function accepted(open: OpenSubject): void {
  it.each([
    ['C125: without an app', {}],
    ['C125, C151: for an app', { app_guid: 'an-app', bind_resource: { app_guid: 'an-app' } }],
    [
      'C151: with all that Cloud Foundry knows of a bind',
      {
        bind_resource: {
          app_guid: 'an-app',
          space_guid: 'a-space',
          app_annotations: { 'company.com/a': 'b' },
          credential_client_id: 'a-client',
          backup_agent: true,
          route: 'app.example.com',
        },
      },
    ],
    ['C121: with a lifetime', { parameters: { expiration_seconds: 7200 } }],
    ['C121: with empty parameters', { parameters: {} }],
    ['C121: with null for parameters', { parameters: null }],
    ['C121: with null for a parameter', { parameters: { expiration_seconds: null } }],
  ])('%s is 201', async (_, changes) => {
    const subject = open();
    const instance = await subject.instance();
    const binding = freshId();
    const bound = await subject.bind(instance, binding, changes);
    await subject.unbind(instance, binding);

    expect(bound.status).toBe(201);
    expect(credentialsOf(bound).token).toMatch(/\S/);
  });

  it('C130: is answered long before a platform stops waiting', async () => {
    const started = performance.now();
    await withBinding(open, () => undefined);

    expect(performance.now() - started).toBeLessThan(20_000);
  });
}

function handedOut(open: OpenSubject): void {
  it('C17, C122, C126, C128: has credentials and metadata and nothing of what needs a permission', async () => {
    await withBinding(open, (bound) => {
      const credentials = { ...credentialsOf(bound) } as Partial<ReturnType<typeof credentialsOf>>;
      expect(Object.keys(bound.body).sort()).toEqual(['credentials', 'metadata']);
      expect(Object.keys(credentials)).toEqual(
        expect.arrayContaining(['kubeconfig', 'server', 'token']),
      );
      expect(credentials.server).toMatch(/^https:\/\//);
      expect(credentials.kubeconfig).toContain(credentials.token);
    });
  });

  it('C122: works on the cluster', async () => {
    await withBinding(open, async (bound) => {
      expect(await statusWithToken(credentialsOf(bound))).toBe(200);
    });
  });

  it('C127: says when it ends and when to renew it, in UTC with one fraction digit', async () => {
    await withBinding(open, (bound) => {
      const { expires_at: expiresAt, renew_before: renewBefore } = metadataOf(bound);
      const [end, renewal] = [Date.parse(expiresAt), Date.parse(renewBefore)];

      expect(expiresAt).toMatch(WIRE_TIME);
      expect(renewBefore).toMatch(WIRE_TIME);
      expect(renewal).toBeGreaterThan(Date.now());
      expect(end - renewal).toBeGreaterThan(60_000);
    });
  });

  it('C17: names in headers of its own whose they are', async () => {
    await withBinding(open, ({ headers }) => {
      const own = Object.keys(headers).filter((name) => name.startsWith('x-'));

      expect(own.filter((name) => !/^x-(broker-api|runtime-broker)-/.test(name))).toEqual([]);
    });
  });

  it('C17: is among the answers that have the fields of OSB and no others', async () => {
    const subject = open();
    const instance = await subject.instance();
    const fieldsOf = async (path: string) => Object.keys((await subject.osb.call({ path })).body);
    await withBinding(open, async (_, __, binding) => {
      expect(await fieldsOf(instancePath(instance))).toEqual([
        'service_id',
        'plan_id',
        'parameters',
      ]);
      expect((await fieldsOf(bindingPath(instance, binding))).sort()).toEqual([
        'credentials',
        'metadata',
        'parameters',
      ]);
      expect(await fieldsOf(`${bindingPath(instance, binding)}/last_operation`)).toEqual(['state']);
    });
  });
}

function apart(open: OpenSubject): void {
  it('C128: has a credential of its own, which is revoked alone', async () => {
    await withBinding(open, async (first) => {
      await withBinding(open, async (second, instance, binding) => {
        expect(credentialsOf(second).token).not.toBe(credentialsOf(first).token);
        await open().unbind(instance, binding);

        expect(await statusWithToken(credentialsOf(second))).toBeOneOf([401, 403]);
        expect(await statusWithToken(credentialsOf(first))).toBe(200);
      });
    });
  });
}
