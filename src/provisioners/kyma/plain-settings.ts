// The settings of a Kyma runtime from the parameters that plans take now, a name and a region; all else is as small as
// a runtime can be that survives the loss of a machine.
import type { Instance } from '../../domain/instance.ts';
import type { KymaProvider, KymaSettings } from '../../domain/kyma-settings.ts';
import type { Plan } from '../../domain/plan.ts';

interface ProviderDefaults {
  readonly region: string;
  readonly machineType: string;
}

const DEFAULTS: Readonly<Record<KymaProvider, ProviderDefaults>> = {
  aws: { region: 'eu-central-1', machineType: 'm6i.large' },
  azure: { region: 'westeurope', machineType: 'Standard_D2s_v5' },
  gcp: { region: 'europe-west3', machineType: 'n2-standard-2' },
};

export function kymaSettingsOf(plan: Plan, { parameters, accounts }: Instance): KymaSettings {
  const provider = providerOf(plan);
  const { region, machineType } = DEFAULTS[provider];
  return {
    provider,
    region: typeof parameters['region'] === 'string' ? parameters['region'] : region,
    controlPlaneFailureTolerance: undefined,
    kubernetesVersion: undefined,
    workers: {
      name: 'cpu-worker-0',
      machineType,
      zones: [],
      autoScalerMin: 3,
      autoScalerMax: 20,
      maxSurge: 1,
      maxUnavailable: 0,
    },
    additionalWorkers: [],
    administrators: accounts.userId === undefined ? [] : [accounts.userId],
    oidc: [],
    networking: { nodes: '10.250.0.0/16', pods: '10.96.0.0/13', services: '10.104.0.0/13' },
    ingressFiltering: false,
    modules: { kind: 'default' },
  };
}

function providerOf({ name }: Plan): KymaProvider {
  if (name.startsWith('azure')) return 'azure';
  return name.startsWith('gcp') ? 'gcp' : 'aws';
}
