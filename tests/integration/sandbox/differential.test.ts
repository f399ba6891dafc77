// The same requests to a sandbox cluster and to a real API server: both must answer alike.

import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';

import { sharedCluster } from '../../support/cluster.ts';
import { recordSecret } from '../../support/leak-record.ts';
import { describeWith } from '../../support/needs.ts';
import { type RawClient, rawClient } from '../../support/raw-requests.ts';
import { startTestSandbox } from '../../support/sandbox.ts';
import { type ComparedRequest, REQUESTS_TO_COMPARE } from './requests-to-compare.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

describeWith({ cluster: true }, 'a sandbox cluster and a real API server', () => {
  it('answer with the same status, reason and kind', { timeout: 120_000 }, async () => {
    const sandbox = await startTestSandbox();
    onTestFinished(() => sandbox.stop());
    const run = `run-${randomBytes(4).toString('hex')}`;
    const ofSandbox = await answersOf(sandbox.openCluster('compared').adminKubeconfig, run);
    const ofReal = await answersOf(sharedCluster().adminKubeconfig, run);
    expect(ofSandbox).toEqual(ofReal);
  });

  it('name the same fault in the same words, where programs read them', async () => {
    const sandbox = await startTestSandbox();
    onTestFinished(() => sandbox.stop());
    const calls: readonly ComparedRequest[] = [
      { method: 'GET', path: '/api/v1/namespaces/none' },
      { method: 'GET', path: '/api/v1/namespaces/default/configmaps/none' },
      { method: 'GET', path: '/apis/apps/v1/namespaces/default/deployments/none' },
      {
        method: 'POST',
        path: '/api/v1/namespaces/none/configmaps',
        body: { metadata: { name: 'a' } },
      },
      { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'default' } } },
      {
        method: 'POST',
        path: '/api/v1/namespaces/default/configmaps',
        body: { metadata: { name: 'A' } },
      },
      { method: 'GET', path: '/api/v1/namespaces', token: '' },
      { method: 'GET', path: '/api/v1/namespaces/default/pods/x', token: '' },
      { method: 'GET', path: '/metrics', token: '' },
      { method: 'GET', path: '/api/v1/namespaces', token: 'none' },
      { method: 'DELETE', path: '/api/v1/namespaces/default' },
    ];
    const clients = [
      sandbox.openCluster('compared').adminKubeconfig,
      sharedCluster().adminKubeconfig,
    ];
    const [ofSandbox, ofReal] = await Promise.all(
      clients.map(async (kubeconfig) => {
        const client = rawClient(kubeconfig);
        return Promise.all(
          calls.map(async (call) => JSON.parse((await client(call)).text) as unknown),
        );
      }),
    );
    expect(ofSandbox).toEqual(ofReal);
  });
});

interface Seen {
  readonly request: string;
  readonly status: number;
  readonly reason: string;
  readonly kind: string;
}

async function answersOf(kubeconfig: string, run: string): Promise<readonly Seen[]> {
  const client = rawClient(kubeconfig);
  const tokens = {
    limited: await limitedToken(client, run),
    anonymous: '',
    stranger: 'no.such.token',
  };
  const seen: Seen[] = [];
  for (const { as, ...call } of REQUESTS_TO_COMPARE) {
    const path = placed(call.path, run);
    const request = {
      ...call,
      path,
      ...(call.body === undefined ? {} : { body: placed(JSON.stringify(call.body), run) }),
      ...(typeof call.body === 'string' ? { body: call.body } : {}),
      ...(as === undefined ? {} : { token: tokens[as] }),
    };
    const { status, text } = await client(request);
    const { reason = '', kind = '' } = summary(text);
    const body = call.body === undefined ? '' : ` ${JSON.stringify(call.body)}`;
    seen.push({
      request: `${as ?? 'admin'}: ${call.method} ${call.path}${body}`,
      status,
      reason,
      kind,
    });
  }
  return seen;
}

function placed(text: string, run: string): string {
  return text.replaceAll('NS', run).replaceAll('RUN', run);
}

function summary(text: string): { reason?: string; kind?: string } {
  try {
    return JSON.parse(text) as { reason?: string; kind?: string };
  } catch {
    return { kind: text.trim() };
  }
}

/** Makes the namespace, an account that may do little in it, and a token for it. */
async function limitedToken(client: RawClient, run: string): Promise<string> {
  const inside = `${RBAC}/namespaces/${run}`;
  const post = async (path: string, body: object): Promise<string> => {
    const { status, text } = await client({ method: 'POST', path, body });
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
    return text;
  };
  await post('/api/v1/namespaces', { metadata: { name: run } });
  await post(`/api/v1/namespaces/${run}/serviceaccounts`, { metadata: { name: 'limited' } });
  await post(`${inside}/roles`, {
    metadata: { name: 'limited' },
    rules: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['roles', 'rolebindings'],
        verbs: ['create'],
      },
    ],
  });
  await post(`${inside}/rolebindings`, {
    metadata: { name: 'limited' },
    roleRef: { kind: 'Role', name: 'limited' },
    subjects: [{ kind: 'ServiceAccount', name: 'limited' }],
  });
  const answer = await post(`/api/v1/namespaces/${run}/serviceaccounts/limited/token`, {
    spec: {},
  });
  const { status } = JSON.parse(answer) as { status: { token: string } };
  recordSecret('token of an account', status.token);
  // The API server hears of a new role binding a little later.
  await expect
    .poll(async () => {
      const path = `/api/v1/namespaces/${run}/configmaps/none`;
      return (await client({ method: 'GET', path, token: status.token })).status;
    })
    .toBe(404);
  return status.token;
}
