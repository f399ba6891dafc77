// What a bind and a fetch answer, to the letter: bodies, headers, times, and what is kept of who asked
// (docs/api.md, "Bind").
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { bindingPath, OWN_CLUSTER_PLAN_ID, SERVICE_ID } from '../../support/platform.ts';
import { claimsOf, newId, openScene, parseKubeconfig, type Scene } from './scene.ts';

const WIRE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\dZ$/;

describeOnEngines('what a bind and a fetch answer', { cluster: true }, (engine) => {
  let scene: Scene;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene({ engine });
    instance = await scene.attach({ parameters: { name: 'prod-1' } });
  });

  afterAll(() => scene.close());

  const bindingsOf = (id: string) => ({ instance, binding: id });

  it('answers 201 with credentials and metadata, and with nothing else', async () => {
    const bound = await scene.platform.bind(bindingsOf(newId('body')), { expiration_seconds: 900 });

    expect(bound.status).toBe(201);
    const { credentials, metadata } = bound.body;
    expect(bound.body).toEqual({
      credentials: {
        kubeconfig: credentials.kubeconfig,
        server: scene.cluster.server,
        certificate_authority_data: base64(scene.cluster.authority.certPem),
        token: credentials.token,
      },
      metadata: { expires_at: metadata.expires_at, renew_before: metadata.renew_before },
    });
    expect(credentials.token).toMatch(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  it('hands out a kubeconfig with one cluster, context and user, named after the instance', async () => {
    const bound = await scene.platform.bind(bindingsOf(newId('file')));

    const { kubeconfig, token } = bound.body.credentials;
    expect(parseKubeconfig(kubeconfig)).toEqual({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'prod-1',
          cluster: {
            server: scene.cluster.server,
            'certificate-authority-data': base64(scene.cluster.authority.certPem),
          },
        },
      ],
      users: [{ name: 'prod-1', user: { token } }],
      contexts: [{ name: 'prod-1', context: { cluster: 'prod-1', user: 'prod-1' } }],
      'current-context': 'prod-1',
    });
  });

  it('C127: tells the expiry that the cluster granted, and to renew at 75 to 85 % of the lifetime', async () => {
    for (const seconds of [600, 7200]) {
      const ids = bindingsOf(newId('times'));
      const bound = await scene.platform.bind(ids, { expiration_seconds: seconds });
      const { expires_at: expiresAt, renew_before: renewBefore } = bound.body.metadata;
      const { iat, exp } = claimsOf(bound.body.credentials.token);

      expect(exp - iat).toBe(seconds);
      expect(expiresAt).toMatch(WIRE_TIME);
      expect(renewBefore).toMatch(WIRE_TIME);
      expect(Date.parse(expiresAt)).toBe(exp * 1000);
      const share = (Date.parse(renewBefore) / 1000 - iat) / seconds;
      expect(share).toBeGreaterThanOrEqual(0.75 - 0.1 / seconds);
      expect(share).toBeLessThanOrEqual(0.85);
      await scene.platform.unbind(ids);
    }
  });

  it('lives 600 seconds where the request names no lifetime', async () => {
    for (const parameters of [undefined, {}, { expiration_seconds: null }]) {
      const ids = bindingsOf(newId('default'));
      const bound = await scene.platform.bind(ids, parameters);
      const { iat, exp } = claimsOf(bound.body.credentials.token);
      expect(exp - iat).toBe(600);
      await scene.platform.unbind(ids);
    }
  });

  it('counts down the bindings that are left, and says no-store', async () => {
    const fresh = await scene.attach();
    const answers = [];
    for (const binding of ['first', 'second', 'second']) {
      answers.push(await scene.platform.bind({ instance: fresh, binding }));
    }
    const told = answers.map(({ status, headers }) => [
      status,
      headers.get('x-runtime-broker-bindings-remaining'),
      headers.get('cache-control'),
      headers.get('content-type'),
    ]);
    const json = 'application/json; charset=utf-8';
    expect(told).toEqual([
      [201, '9', 'no-store', json],
      [201, '8', 'no-store', json],
      [200, '8', 'no-store', json],
    ]);
  });

  it('answers a repeat with the same body, and a fetch with the parameters on top', async () => {
    const ids = bindingsOf(newId('repeat'));
    const first = await scene.platform.bind(ids, { expiration_seconds: 700 });
    const second = await scene.platform.bind(ids, { expiration_seconds: 700 });
    const fetched = await scene.platform.getBinding(ids);

    expect([first.status, second.status, fetched.status]).toEqual([201, 200, 200]);
    expect(second.body).toEqual(first.body);
    expect(fetched.body).toEqual({ ...first.body, parameters: { expiration_seconds: 700 } });
    expect(fetched.headers.get('cache-control')).toBe('no-store');
    await scene.platform.unbind(ids);
  });

  it('says in a fetch what the request said, not what it came to mean', async () => {
    const ids = bindingsOf(newId('silent'));
    await scene.platform.bind(ids);
    expect((await scene.platform.getBinding(ids)).body.parameters).toEqual({});
    await scene.platform.unbind(ids);
  });

  it('ignores accepts_incomplete: a bind is synchronous', async () => {
    const ids = bindingsOf(newId('async'));
    const bound = await scene.platform.call({
      method: 'PUT',
      path: `${bindingPath(ids)}?accepts_incomplete=true`,
      body: { service_id: SERVICE_ID, plan_id: OWN_CLUSTER_PLAN_ID },
    });
    expect(bound.status).toBe(201);
    expect(bound.body).not.toHaveProperty('operation');
    await scene.platform.unbind(ids);
  });

  it('KEB defect 26: a fetch tells when the binding expires, and the catalog that it can be fetched', async () => {
    const ids = bindingsOf(newId('metadata'));
    await scene.platform.bind(ids);
    expect((await scene.platform.getBinding(ids)).body.metadata.expires_at).toMatch(WIRE_TIME);
    const { services } = (await scene.platform.catalog()).body as {
      services: { bindings_retrievable: boolean }[];
    };
    expect(services.map((service) => service.bindings_retrievable)).toEqual([true]);
    await scene.platform.unbind(ids);
  });

  const identity = (user: unknown) =>
    `cloudfoundry ${Buffer.from(JSON.stringify(user)).toString('base64')}`;

  it('KEB defect 38: tells in the log who was handed a credential again, by a fetch or a repeat', async () => {
    const ids = bindingsOf(newId('again'));
    const body = { service_id: SERVICE_ID, plan_id: OWN_CLUSTER_PLAN_ID };
    const put = (context: object) =>
      scene.platform.call({ method: 'PUT', path: bindingPath(ids), body: { ...body, context } });
    const get = (header: string) =>
      scene.platform.call({
        method: 'GET',
        path: bindingPath(ids),
        headers: { 'x-broker-api-originating-identity': header },
      });
    await put({ email: 'maker@b.c' });

    const answers = [await put({ email: 'repeats@b.c' }), await get(identity({ user_id: 'u1' }))];
    answers.push(await get('no identity'));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const told = scene.broker
      .log()
      .filter(
        ({ event, bindingId }) => event === 'binding-handed-out-again' && bindingId === ids.binding,
      );
    expect(told.map(({ requestedBy }) => requestedBy)).toEqual([
      'repeats@b.c',
      'u1 cloudfoundry',
      'broker',
    ]);
    await scene.platform.unbind(ids);
  });

  it.each<[string, object | undefined, string, string]>([
    ['its email and origin', { email: 'a@b.c', origin: 'idp' }, '', 'a@b.c idp'],
    ['its email alone', { email: 'a@b.c' }, '', 'a@b.c'],
    ['its origin alone', { origin: 'client-7' }, identity({ user_id: 'u1' }), 'client-7'],
    ['the originating identity', {}, identity({ user_id: 'u1' }), 'u1 cloudfoundry'],
    ['the caller', undefined, '', 'broker'],
    ['the caller, as the identity is no base64', undefined, 'cloudfoundry !', 'broker'],
  ])('KEB defect 38: records as creator %s', async (_, context, header, expected) => {
    const ids = bindingsOf(newId('creator'));
    const bound = await scene.platform.call({
      method: 'PUT',
      path: bindingPath(ids),
      body: { service_id: SERVICE_ID, plan_id: OWN_CLUSTER_PLAN_ID, context },
      headers: { 'x-broker-api-originating-identity': header },
    });
    expect(bound.status).toBe(201);
    expect(
      await scene.ledger.sql('select created_by from bindings where id = $1', [ids.binding]),
    ).toEqual([{ created_by: expected }]);
    await scene.platform.unbind(ids);
  });
});

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
