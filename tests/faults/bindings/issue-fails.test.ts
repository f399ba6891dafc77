// Each of the four calls of an issue fails in each way that a cluster can fail: the answer of docs/api.md, nothing left
// on the cluster, the id and the slot free at once (KEB defects 3, 4, 15, 21).
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ClusterProxy, type FaultAct, openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeWith } from '../../support/needs.ts';
import { expectErrorBody } from '../../integration/bindings/refusals.ts';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';

const CALLS = {
  'the account': /^POST \/api\/v1\/namespaces\/kyma-system\/serviceaccounts$/,
  'the token': /^POST .*\/serviceaccounts\/kyma-binding-.*\/token$/,
  'the role': /^POST .*\/clusterroles$/,
  'the role binding': /^POST .*\/clusterrolebindings$/,
};

interface Failure {
  readonly how: string;
  readonly act: FaultAct;
  readonly status: number;
  readonly retryAfter: string | null;
}

const answered = (status: number, headers?: Readonly<Record<string, string>>): FaultAct => ({
  kind: 'answer',
  status,
  ...(headers === undefined ? {} : { headers }),
});

const FAILURES: readonly Failure[] = [
  { how: 'is answered by 500', act: answered(500), status: 503, retryAfter: '5' },
  { how: 'is answered by 503', act: answered(503), status: 503, retryAfter: '5' },
  {
    how: 'is answered by 429 with Retry-After',
    act: answered(429, { 'retry-after': '17' }),
    status: 503,
    retryAfter: '17',
  },
  { how: 'is answered by 429 without', act: answered(429), status: 503, retryAfter: '5' },
  { how: 'is cut before it arrives', act: { kind: 'cut' }, status: 503, retryAfter: '5' },
  { how: 'is cut after it arrived', act: { kind: 'cut-answer' }, status: 503, retryAfter: '5' },
  { how: 'is refused as forbidden', act: answered(403), status: 502, retryAfter: null },
  { how: 'is refused as invalid', act: answered(422), status: 502, retryAfter: null },
  { how: 'is refused as a conflict', act: answered(409), status: 502, retryAfter: null },
  {
    how: 'is answered by a web page',
    act: answered(200, { 'content-type': 'text/html' }),
    status: 502,
    retryAfter: null,
  },
  { how: 'is answered by another kind', act: answered(201), status: 502, retryAfter: null },
];

const CASES = Object.entries(CALLS).flatMap(([call, on]) =>
  FAILURES.map((failure) => ({ call, on, ...failure })),
);

describeWith({ postgres: true, cluster: true }, 'an issue that fails', () => {
  let scene: Scene;
  let proxy: ClusterProxy;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene();
    proxy = await openClusterProxy(scene.cluster);
    instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
  });

  afterEach(() => proxy.behave());

  afterAll(async () => {
    await proxy.stop();
    await scene.close();
  });

  it.each(CASES)(
    'KEB defect 4: $call $how: $status, and nothing is left',
    async ({ on, act, status, retryAfter }) => {
      const ids = { instance, binding: newId('fails') };
      const fault = proxy.misbehave({ on, act, times: 1 });

      const answer = await scene.platform.bind(ids, { expiration_seconds: 600 });

      expect(fault.seen()).toBe(1);
      expect(answer.status).toBe(status);
      expect(answer.headers.get('retry-after')).toBe(retryAfter);
      expect(answer.body).not.toHaveProperty('credentials');
      expectErrorBody(answer);
      expect(await scene.objects()).toEqual([]);
      expect(await scene.platform.bindingOperation(ids)).toMatchObject({
        body: { state: 'failed' },
      });

      // KEB defect 3: the id is free at once, with other parameters too.
      const again = await scene.platform.bind(ids, { expiration_seconds: 900 });
      expect(again.status).toBe(201);
      expect(again.headers.get('x-runtime-broker-bindings-remaining')).toBe('9');
      expect((await scene.platform.unbind(ids)).status).toBe(200);
    },
  );

  describe('before anything was made', () => {
    const IDENTITY = /^GET \/api\/v1\/namespaces\/kube-system$/;

    it('leaves nothing to undo: the cluster that does not tell who it is was asked to make nothing', async () => {
      // Whoever has just started has not asked the cluster yet.
      const fresh = await scene.openReplica();
      const ids = { instance, binding: newId('unasked') };
      proxy.misbehave({ on: IDENTITY, act: answered(500) });
      const before = proxy.requests(/^(POST|PATCH|DELETE)/).length;

      const answer = await fresh.platform.bind(ids);

      expect(answer.status).toBe(503);
      expectErrorBody(answer);
      expect(proxy.requests(/^(POST|PATCH|DELETE)/).length).toBe(before);
      const ended = await scene.ledger.sql('select proof from grants where binding_id = $1', [
        ids.binding,
      ]);
      expect(ended).toEqual([{ proof: 'nothing-made' }]);
      proxy.behave();
      expect((await fresh.platform.bind(ids)).status).toBe(201);
      await fresh.platform.unbind(ids);
    });

    it('an admin access that is not accepted any more is 502, and asked anew the next time', async () => {
      const ids = { instance, binding: newId('unauthorized') };
      proxy.misbehave({ on: /./, act: answered(401) });
      const answer = await scene.platform.bind(ids);
      expect(answer.status).toBe(502);
      expectErrorBody(answer);
      proxy.behave();
      const asked = proxy.requests(IDENTITY).length;
      expect((await scene.platform.bind(ids)).status).toBe(201);
      // Before anything is made, and once more over the connections that the issue has opened.
      expect(proxy.requests(IDENTITY).length).toBe(asked + 2);
      await scene.platform.unbind(ids);
    });
  });

  describe('for its namespace', () => {
    const MISSING = 'plans: {own_cluster: {namespace: a-namespace-that-is-not-there}}';

    it('that is not there: 502, nothing made, the id free', async () => {
      const moved = await scene.openReplica({ configFile: MISSING });
      const ids = { instance, binding: newId('nowhere') };
      const answer = await moved.platform.bind(ids);
      await moved.stop();
      expect(answer).toMatchObject({
        status: 502,
        body: {
          description: 'The cluster refused the request: the namespace of bindings is missing.',
        },
      });
      expectErrorBody(answer);
      expect(await scene.objects()).toEqual([]);
      expect((await scene.platform.bind(ids)).status).toBe(201);
      await scene.platform.unbind(ids);
    });

    it('that is on its way out: 502, nothing made', async () => {
      const name = newId('going');
      const configFile = `plans: {own_cluster: {namespace: ${name}}}`;
      const moved = await scene.openReplica({ configFile });
      await scene.eyes.call('POST', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      });
      // Nobody finishes the deletion here, as no controller runs.
      await scene.eyes.call('DELETE', `/api/v1/namespaces/${name}`);
      const answer = await moved.platform.bind({ instance, binding: newId('going') });
      await moved.stop();
      expect(answer.status).toBe(502);
      expectErrorBody(answer);
      expect(await scene.objects()).toEqual([]);
    });
  });

  it('KEB defect 15: tells operators what the cluster said, and the platform nothing of it', async () => {
    const ids = { instance, binding: newId('words') };
    proxy.misbehave({ on: CALLS['the role'], act: answered(500), times: 1 });
    const answer = await scene.platform.bind(ids);
    expect(JSON.stringify(answer.body)).not.toContain('words-of-the-cluster');
    const logged = scene.broker
      .log()
      .filter((line) => JSON.stringify(line).includes('words-of-the-cluster'));
    expect(logged.length).toBeGreaterThan(0);
  });

  it('KEB defect 3: ten that failed leave all ten slots', async () => {
    const other = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
    proxy.misbehave({ on: CALLS['the token'], act: answered(500) });
    for (let at = 0; at < 10; at += 1) {
      const answer = await scene.platform.bind({ instance: other, binding: `b-${at}` });
      expect(answer.status).toBe(503);
    }
    proxy.behave();
    for (let at = 0; at < 10; at += 1) {
      const answer = await scene.platform.bind({ instance: other, binding: `b-${9 - at}` });
      expect(answer.status).toBe(201);
    }
  });
});
