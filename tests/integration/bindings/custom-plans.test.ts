// Bindings by other rules than the built-in ones: limits from the configuration file, and what an operator's change of
// them may not do to what lives already (docs/configuration.md, "Plans").
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/needs.ts';
import { refusal } from './refusals.ts';
import { claimsOf, newId, openScene, type Scene } from './scene.ts';

const GENEROUS = `
plans:
  own_cluster:
    namespace: grants-of-custom-plans
    binding: {defaultSeconds: 900, minSeconds: 700, maxSeconds: 7000, maxLive: 2}
`;

/** What the operator makes of it later. */
const STRICT = `
plans:
  own_cluster:
    binding: {defaultSeconds: 3600, minSeconds: 3600, maxSeconds: 3600, maxLive: 1}
`;

const NOT_BINDABLE = `
plans:
  own_cluster: {bindable: false}
`;

describeWith({ postgres: true, cluster: true }, 'the rules of a plan', () => {
  let scene: Scene;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene({ configFile: GENEROUS, reconciles: false });
    instance = await scene.attach();
  });

  afterAll(() => scene.close());

  it('are those of the configuration file', async () => {
    const bind = (binding: string, seconds?: number) =>
      scene.platform.bind(
        { instance, binding },
        seconds === undefined ? undefined : { expiration_seconds: seconds },
      );
    const tooShort = await refusal(scene, () => bind('short', 699));
    expect(tooShort.body['description']).toBe('expiration_seconds cannot be less than 700');
    const tooLong = await refusal(scene, () => bind('long', 7001));
    expect(tooLong.body['description']).toBe('expiration_seconds cannot be greater than 7000');

    const first = await bind('first');
    const { iat, exp } = claimsOf(first.body.credentials.token);
    expect(exp - iat).toBe(900);
    expect(first.headers.get('x-runtime-broker-bindings-remaining')).toBe('1');
    expect((await bind('second', 700)).status).toBe(201);
    const third = await refusal(scene, () => bind('third'));
    expect(third.body['description']).toMatch(
      /^maximum number of non expired bindings reached: 2; next slot frees at \S+Z$/,
    );
    const [account] = await scene.objects('first');
    expect(account?.metadata.namespace).toBe('grants-of-custom-plans');
  });

  it('C123: KEB defect 10: a repeat is served whatever the operator has changed since', async () => {
    const ids = { instance, binding: 'first' };
    const before = await scene.platform.getBinding(ids);
    for (const configFile of [STRICT, NOT_BINDABLE]) {
      const changed = await scene.openReplica({ configFile });
      const repeated = await changed.platform.bind(ids);
      expect(repeated.status).toBe(200);
      expect(repeated.body.credentials).toEqual(before.body.credentials);
      expect((await changed.platform.getBinding(ids)).body).toEqual(before.body);
      expect((await changed.platform.bind({ instance, binding: 'second' })).status).toBe(409);
      await changed.stop();
    }
  });

  it('C129: KEB defect 22: something new on a plan that is not bindable is 400 BindingNotSupported', async () => {
    const notBindable = await scene.openReplica({ configFile: NOT_BINDABLE });
    const bind = (parameters?: Readonly<Record<string, unknown>>) =>
      notBindable.platform.bind({ instance, binding: newId('new') }, parameters);
    for (const parameters of [undefined, { expiration_seconds: 1 }]) {
      const answer = await refusal(scene, () => bind(parameters));
      expect(answer).toMatchObject({ status: 400, body: { error: 'BindingNotSupported' } });
    }
    expect((await notBindable.platform.unbind({ instance, binding: 'second' })).status).toBe(200);
    await notBindable.stop();
  });

  it('a smaller limit refuses what is new, and says when the first of those that live ends', async () => {
    await scene.platform.bind({ instance, binding: 'more' });
    const strict = await scene.openReplica({ configFile: STRICT });
    const answer = await refusal(scene, () => strict.platform.bind({ instance, binding: 'new' }));
    expect(answer.body['description']).toContain(
      'maximum number of non expired bindings reached: 1; next slot frees at ',
    );
    const repeated = await strict.platform.bind({ instance, binding: 'more' });
    expect(repeated.headers.get('x-runtime-broker-bindings-remaining')).toBe('0');
    await strict.stop();
  });

  it('the longest lifetime that a plan can allow is served', async () => {
    const configFile = 'plans: {own_cluster: {binding: {maxSeconds: 2147483647}}}';
    const generous = await scene.openReplica({ configFile });
    const ids = { instance: await scene.attach(), binding: 'for-decades' };
    const parameters = { expiration_seconds: 2_147_483_647 };
    const bound = await generous.platform.bind(ids, parameters);
    expect(bound.status).toBe(201);
    const { iat, exp } = claimsOf(bound.body.credentials.token);
    expect(exp - iat).toBe(2_147_483_647);
    expect((await generous.platform.getBinding(ids)).body.parameters).toEqual(parameters);
  });
});
