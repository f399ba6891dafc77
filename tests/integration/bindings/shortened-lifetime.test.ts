// A cluster whose API server has a longest lifetime of tokens below what is asked: the binding ends when the cluster
// says, the caller is told when, and operators are told that it is less than was asked.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ownCluster } from '../../support/cluster.ts';
import { describeWith } from '../../support/needs.ts';
import type { KubeApiserver } from '../../support/real-parts/kube-apiserver.ts';
import { claimsOf, openScene, type Scene } from './scene.ts';

describeWith({ postgres: true, ownCluster: true }, 'a lifetime that the cluster shortens', () => {
  let cluster: KubeApiserver;
  let scene: Scene;
  let instance: string;

  beforeAll(async () => {
    cluster = await ownCluster({ flags: ['--service-account-max-token-expiration=3600s'] });
    scene = await openScene({ cluster });
    instance = await scene.attach();
  });
  afterAll(async () => {
    await scene.close();
    await cluster.stop();
  });

  const shortenings = () =>
    scene.broker.log().filter(({ event }) => event === 'binding-lifetime-shortened');

  it('is not told of where the cluster grants what was asked', async () => {
    await scene.platform.bind({ instance, binding: 'as-asked' }, { expiration_seconds: 3600 });
    expect(shortenings()).toEqual([]);
  });

  it('is told to operators, and the caller gets the end that the token has', async () => {
    const ids = { instance, binding: 'shortened' };
    const { status, body } = await scene.platform.bind(ids, { expiration_seconds: 7200 });
    expect(status).toBe(201);
    const { iat, exp } = claimsOf(body.credentials.token);
    expect(exp - iat).toBe(3600);
    expect(Date.parse(body.metadata.expires_at)).toBe(exp * 1000);
    expect(shortenings()).toMatchObject([
      { instanceId: instance, bindingId: 'shortened', askedSeconds: 7200, grantedSeconds: 3600 },
    ]);
  });
});
