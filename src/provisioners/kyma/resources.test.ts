import { describe, expect, it } from 'vitest';

import { BUILT_IN_PLANS } from '../../domain/built-in-plans.ts';
import type { Instance } from '../../domain/instance.ts';
import type { KymaInstallation } from '../../domain/kyma-installation.ts';
import type { KymaSettings } from '../../domain/kyma-settings.ts';
import type { KymaOrder } from './kyma-order.ts';
import { kymaResource } from './kyma-resource.ts';
import { runtimeResource } from './runtime-resource.ts';

const RUNTIME_ID = 'F2C1A5D0-6B1E-4C53-9A77-0D3C8E2B9F10';

const POOL = {
  name: 'cpu-worker-0',
  machineType: 'm6i.large',
  zones: ['eu-central-1a', 'eu-central-1b'],
  autoScalerMin: 3,
  autoScalerMax: 20,
  maxSurge: 2,
  maxUnavailable: 0,
};

const SETTINGS: KymaSettings = {
  provider: 'aws',
  region: 'eu-central-1',
  controlPlaneFailureTolerance: undefined,
  kubernetesVersion: undefined,
  workers: POOL,
  additionalWorkers: [],
  administrators: ['jane@example.org'],
  oidc: [],
  networking: { nodes: '10.250.0.0/16', pods: '10.96.0.0/13', services: '10.104.0.0/13' },
  ingressFiltering: false,
  modules: { kind: 'default' },
};

const INSTALLATION: KymaInstallation = {
  secretBindings: { aws: 'account-of-aws', azure: 'account-of-azure', gcp: 'account-of-gcp' },
  channel: 'regular',
  modules: [{ name: 'btp-operator' }, { name: 'istio', channel: 'fast' }],
  pollSeconds: 10,
};

interface Change {
  readonly instance?: Partial<Instance>;
  readonly settings?: Partial<KymaSettings>;
  readonly plan?: string;
}

function order({ instance, settings, plan: planName = 'aws' }: Change = {}): KymaOrder {
  const plan = BUILT_IN_PLANS.find(({ name }) => name === planName);
  if (plan === undefined) throw new Error(`no plan ${planName}`);
  return {
    instance: {
      key: '7d3e0c1a-52a4-4b0e-8a29-6f6a4f1d2b3c',
      id: 'e9f1a6d2-0b5c-4d1e-9b7a-3c2d1e0f9a8b',
      serviceId: '47c9dcbf-ff30-448e-ab36-d3bad66ba281',
      planId: plan.id,
      provisioner: 'kyma',
      name: 'my-runtime',
      region: 'eu-central-1',
      platformRegion: 'cf-eu10',
      runtimeId: RUNTIME_ID,
      accounts: { globalAccountId: 'global-1', subaccountId: 'sub-1', userId: 'jane@example.org' },
      parameters: { name: 'my-runtime' },
      cluster: undefined,
      clusterGoneAt: undefined,
      createdAt: new Date('2026-01-01T00:00:00Z'),
      deletedAt: undefined,
      ...instance,
    },
    runtimeId: RUNTIME_ID,
    plan,
    settings: { ...SETTINGS, ...settings },
    installation: INSTALLATION,
  };
}

describe('the Runtime of an instance', () => {
  it('has the name, labels and spec that the infrastructure manager demands', () => {
    expect(runtimeResource(order())).toEqual({
      apiVersion: 'infrastructuremanager.kyma-project.io/v1',
      kind: 'Runtime',
      metadata: {
        name: 'f2c1a5d0-6b1e-4c53-9a77-0d3c8e2b9f10',
        namespace: 'kcp-system',
        labels: {
          'kyma-project.io/instance-id': 'e9f1a6d2-0b5c-4d1e-9b7a-3c2d1e0f9a8b',
          'kyma-project.io/runtime-id': 'F2C1A5D0-6B1E-4C53-9A77-0D3C8E2B9F10',
          'kyma-project.io/broker-plan-id': '361c511f-f939-4621-b228-d0fb79a1fe15',
          'kyma-project.io/broker-plan-name': 'aws',
          'kyma-project.io/global-account-id': 'global-1',
          'kyma-project.io/subaccount-id': 'sub-1',
          'kyma-project.io/region': 'eu-central-1',
          'kyma-project.io/platform-region': 'cf-eu10',
          'kyma-project.io/provider': 'aws',
          'kyma-project.io/shoot-name': 'c-tt4s9ij',
          'operator.kyma-project.io/kyma-name': 'f2c1a5d0-6b1e-4c53-9a77-0d3c8e2b9f10',
        },
        annotations: {
          'runtime-broker/instance-key': '7d3e0c1a-52a4-4b0e-8a29-6f6a4f1d2b3c',
          'runtime-broker/instance-id': 'e9f1a6d2-0b5c-4d1e-9b7a-3c2d1e0f9a8b',
        },
      },
      spec: {
        shoot: {
          name: 'c-tt4s9ij',
          purpose: 'production',
          region: 'eu-central-1',
          platformRegion: 'cf-eu10',
          secretBindingName: 'account-of-aws',
          kubernetes: { kubeAPIServer: {} },
          networking: {
            type: 'calico',
            nodes: '10.250.0.0/16',
            pods: '10.96.0.0/13',
            services: '10.104.0.0/13',
          },
          provider: {
            type: 'aws',
            workers: [
              {
                name: 'cpu-worker-0',
                machine: { type: 'm6i.large' },
                minimum: 3,
                maximum: 20,
                maxSurge: 2,
                maxUnavailable: 0,
                zones: ['eu-central-1a', 'eu-central-1b'],
              },
            ],
          },
        },
        security: {
          administrators: ['jane@example.org'],
          networking: { filter: { egress: { enabled: true }, ingress: { enabled: false } } },
        },
      },
    });
  });

  it('is the same at each attempt, and has another Shoot for another runtime', () => {
    const again = runtimeResource(order());
    expect(again).toEqual(runtimeResource(order()));
    const other = runtimeResource({ ...order(), runtimeId: 'another' });
    expect(other.spec.shoot.name).not.toBe(again.spec.shoot.name);
  });

  it.each<[string, Partial<KymaSettings>, unknown]>([
    [
      'a control plane that outlives a zone',
      { controlPlaneFailureTolerance: 'zone' },
      { controlPlane: { highAvailability: { failureTolerance: { type: 'zone' } } } },
    ],
    [
      'a version of Kubernetes',
      { kubernetesVersion: '1.33' },
      { kubernetes: { version: '1.33', kubeAPIServer: {} } },
    ],
    [
      'further pools',
      { additionalWorkers: [{ ...POOL, name: 'gpu', machineType: 'g6.xlarge', zones: [] }] },
      {
        provider: {
          additionalWorkers: [
            {
              name: 'gpu',
              machine: { type: 'g6.xlarge' },
              minimum: 3,
              maximum: 20,
              maxSurge: 2,
              maxUnavailable: 0,
            },
          ],
        },
      },
    ],
    [
      'an issuer of its own',
      {
        oidc: [
          {
            clientId: 'client',
            issuerUrl: 'https://issuer.example.org',
            groupsClaim: 'groups',
            groupsPrefix: '-',
            usernameClaim: 'sub',
            usernamePrefix: 'o:',
            signingAlgs: ['RS256'],
            requiredClaims: { tenant: 'one' },
          },
        ],
      },
      {
        kubernetes: {
          kubeAPIServer: {
            additionalOidcConfig: [
              {
                clientID: 'client',
                issuerURL: 'https://issuer.example.org',
                groupsClaim: 'groups',
                groupsPrefix: '-',
                usernameClaim: 'sub',
                usernamePrefix: 'o:',
                signingAlgs: ['RS256'],
                requiredClaims: { tenant: 'one' },
              },
            ],
          },
        },
      },
    ],
    ['the account of its provider', { provider: 'gcp' }, { secretBindingName: 'account-of-gcp' }],
  ])('has %s where it is set', (_, settings, shoot) => {
    expect(runtimeResource(order({ settings })).spec.shoot).toMatchObject(shoot as object);
  });

  it('is for evaluation where the plan is free', () => {
    expect(runtimeResource(order({ plan: 'trial' })).spec.shoot.purpose).toBe('evaluation');
  });

  it('filters ingress where it is asked to', () => {
    const { security } = runtimeResource(order({ settings: { ingressFiltering: true } })).spec;
    expect(security.networking.filter.ingress).toEqual({ enabled: true });
  });

  it.each([
    ['an id with characters that no label has', { id: 'a/b ü' }],
    ['an id that is longer than a label', { id: 'a'.repeat(255) }],
    ['no accounts', { accounts: {} }],
    ['a region of many words', { platformRegion: 'Far Away' }],
  ])('has labels that a cluster takes and none that is empty, with %s', (_, instance) => {
    const { labels, annotations } = runtimeResource(order({ instance })).metadata;
    for (const value of Object.values(labels)) {
      expect(value).toMatch(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/);
    }
    expect(annotations['runtime-broker/instance-id']).toBe(order({ instance }).instance.id);
  });
});

describe('the Kyma of an instance', () => {
  it('has the labels of its Runtime, a manager, and the modules of the installation', () => {
    const kyma = kymaResource(order());
    expect(kyma).toMatchObject({
      apiVersion: 'operator.kyma-project.io/v1beta2',
      kind: 'Kyma',
      metadata: { name: 'f2c1a5d0-6b1e-4c53-9a77-0d3c8e2b9f10', namespace: 'kcp-system' },
      spec: {
        channel: 'regular',
        modules: [{ name: 'btp-operator' }, { name: 'istio', channel: 'fast' }],
      },
    });
    expect(kyma.metadata.labels).toEqual({
      ...runtimeResource(order()).metadata.labels,
      'operator.kyma-project.io/managed-by': 'lifecycle-manager',
    });
  });

  it.each<[string, KymaSettings['modules'], unknown]>([
    ['none', { kind: 'list', modules: [] }, []],
    [
      'those of the request',
      { kind: 'list', modules: [{ name: 'keda' }, { name: 'nats', channel: 'fast' }] },
      [{ name: 'keda' }, { name: 'nats', channel: 'fast' }],
    ],
  ])('has %s where they are asked for', (_, modules, expected) => {
    expect(kymaResource(order({ settings: { modules } })).spec.modules).toEqual(expected);
  });
});
