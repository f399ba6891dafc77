// What a Kyma runtime is made of, once a plan's defaults and a request's parameters are put together. How it is
// written as a Runtime resource is the provisioner's business.

export type KymaProvider = 'aws' | 'azure' | 'gcp';

export interface WorkerPool {
  readonly name: string;
  readonly machineType: string;
  readonly zones: readonly string[];
  readonly autoScalerMin: number;
  readonly autoScalerMax: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

export interface OidcIssuer {
  readonly clientId: string;
  readonly issuerUrl: string;
  readonly groupsClaim: string;
  readonly groupsPrefix: string;
  readonly usernameClaim: string;
  readonly usernamePrefix: string;
  readonly signingAlgs: readonly string[];
  readonly requiredClaims: Readonly<Record<string, string>>;
}

export interface KymaNetworking {
  /** CIDRs. */
  readonly nodes: string;
  readonly pods: string;
  readonly services: string;
}

/** As the Kyma resource's template says; `none` installs nothing. */
export type KymaModules =
  | { readonly kind: 'default' }
  | {
      readonly kind: 'list';
      readonly modules: readonly { readonly name: string; readonly channel?: string }[];
    };

export interface KymaSettings {
  readonly provider: KymaProvider;
  /** The provider's. */
  readonly region: string;
  readonly controlPlaneFailureTolerance: 'node' | 'zone' | undefined;
  readonly kubernetesVersion: string | undefined;
  /** The first pool, `cpu-worker-0`. */
  readonly workers: WorkerPool;
  readonly additionalWorkers: readonly WorkerPool[];
  /** Users; never empty where the platform named its user. */
  readonly administrators: readonly string[];
  readonly oidc: readonly OidcIssuer[];
  readonly networking: KymaNetworking;
  readonly ingressFiltering: boolean;
  readonly modules: KymaModules;
}
