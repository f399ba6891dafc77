// The Runtime resource of an instance: what the infrastructure manager makes a cluster from. Pure.
import type { OidcIssuer, WorkerPool } from '../../domain/kyma-settings.ts';
import {
  annotationsOf,
  CONTROL_PLANE_NAMESPACE,
  type KymaOrder,
  labelsOf,
  nameOfRuntime,
  shootName,
} from './kyma-order.ts';

export function runtimeResource(order: KymaOrder) {
  const { runtimeId, settings } = order;
  return {
    apiVersion: 'infrastructuremanager.kyma-project.io/v1',
    kind: 'Runtime',
    metadata: {
      name: nameOfRuntime(runtimeId),
      namespace: CONTROL_PLANE_NAMESPACE,
      labels: labelsOf(order),
      annotations: annotationsOf(order),
    },
    spec: { shoot: shootOf(order), security: securityOf(settings) },
  };
}

function shootOf({ instance, runtimeId, plan, settings, installation }: KymaOrder) {
  const { provider, controlPlaneFailureTolerance: tolerance } = settings;
  return {
    name: shootName(runtimeId),
    // A Shoot for evaluation gets less of everything, and nobody is called when it fails.
    purpose: plan.free ? 'evaluation' : 'production',
    region: settings.region,
    platformRegion: instance.platformRegion,
    secretBindingName: installation.secretBindings[provider],
    kubernetes: kubernetesOf(settings),
    networking: { type: 'calico', ...settings.networking },
    provider: {
      type: provider,
      workers: [workerOf(settings.workers)],
      ...(settings.additionalWorkers.length === 0
        ? {}
        : { additionalWorkers: settings.additionalWorkers.map(workerOf) }),
    },
    ...(tolerance === undefined
      ? {}
      : { controlPlane: { highAvailability: { failureTolerance: { type: tolerance } } } }),
  };
}

function kubernetesOf({ kubernetesVersion, oidc }: KymaOrder['settings']) {
  return {
    ...(kubernetesVersion === undefined ? {} : { version: kubernetesVersion }),
    kubeAPIServer: oidc.length === 0 ? {} : { additionalOidcConfig: oidc.map(oidcOf) },
  };
}

function securityOf({ administrators, ingressFiltering }: KymaOrder['settings']) {
  return {
    administrators,
    networking: { filter: { egress: { enabled: true }, ingress: { enabled: ingressFiltering } } },
  };
}

function workerOf(pool: WorkerPool) {
  return {
    name: pool.name,
    machine: { type: pool.machineType },
    minimum: pool.autoScalerMin,
    maximum: pool.autoScalerMax,
    maxSurge: pool.maxSurge,
    maxUnavailable: pool.maxUnavailable,
    ...(pool.zones.length === 0 ? {} : { zones: pool.zones }),
  };
}

function oidcOf(issuer: OidcIssuer) {
  return {
    clientID: issuer.clientId,
    issuerURL: issuer.issuerUrl,
    groupsClaim: issuer.groupsClaim,
    groupsPrefix: issuer.groupsPrefix,
    usernameClaim: issuer.usernameClaim,
    usernamePrefix: issuer.usernamePrefix,
    signingAlgs: issuer.signingAlgs,
    requiredClaims: issuer.requiredClaims,
  };
}
