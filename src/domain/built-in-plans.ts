// The plans that come with the broker, and the one offering they belong to. Ids never change: platforms keep them for
// as long as an instance lives. The configuration may change the rest and add plans (docs/configuration.md, "Plans").
import type { BindingRules, Plan, PlanSchemas, ProvisionerName } from './plan.ts';
import { KYMA_SCHEMAS, OWN_CLUSTER_SCHEMAS, SANDBOX_SCHEMAS } from './plan-schemas.ts';

export const OFFERING = {
  id: '47c9dcbf-ff30-448e-ab36-d3bad66ba281',
  name: 'kymaruntime',
  displayName: 'Kyma Runtime',
  description: 'Kubernetes runtimes with short-lived, revocable kubeconfigs for automation',
} as const;

/** 600 s is the shortest lifetime a Kubernetes API server grants; two hours bound what a lost file is worth. */
const BINDING_RULES: BindingRules = {
  defaultSeconds: 600,
  minSeconds: 600,
  maxSeconds: 7200,
  maxLive: 10,
};

/** Longer than the 60 minutes after which provisioning of a Kyma runtime is given up. */
const KYMA_POLLING_SECONDS = 2 * 60 * 60;

/** Attaching takes seconds; its deadline is five minutes, deprovisioning tries revocation for two. */
const ATTACHED_POLLING_SECONDS = 15 * 60;

interface PlanRow {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly free: boolean;
}

function plan(row: PlanRow, provisioner: ProvisionerName, schemas: PlanSchemas): Plan {
  return {
    ...row,
    enabled: true,
    bindable: true,
    provisioner,
    namespace: 'kyma-system',
    maximumPollingSeconds: provisioner === 'kyma' ? KYMA_POLLING_SECONDS : ATTACHED_POLLING_SECONDS,
    binding: BINDING_RULES,
    schemas,
  };
}

const KYMA_ROWS: readonly PlanRow[] = [
  {
    id: '361c511f-f939-4621-b228-d0fb79a1fe15',
    name: 'aws',
    displayName: 'AWS',
    description: 'Kyma runtime on Amazon Web Services',
    free: false,
  },
  {
    id: '4deee563-e5ec-4731-b9b1-53b42d855f0c',
    name: 'azure',
    displayName: 'Azure',
    description: 'Kyma runtime on Microsoft Azure',
    free: false,
  },
  {
    id: 'ca6e5357-707f-4565-bbbd-b3ab732597c6',
    name: 'gcp',
    displayName: 'GCP',
    description: 'Kyma runtime on Google Cloud',
    free: false,
  },
  {
    id: '8cb22518-aa26-44c5-91a0-e669ec9bf443',
    name: 'azure_lite',
    displayName: 'Azure Lite',
    description: 'Small Kyma runtime on Microsoft Azure',
    free: false,
  },
  {
    id: '7d55d31d-35ae-4438-bf13-6ffdfa107d9f',
    name: 'trial',
    displayName: 'Trial',
    description: 'Kyma runtime for a first look, for a limited time',
    free: true,
  },
  {
    id: 'b1a5764e-2ea1-4f95-94c0-2b4538b37b55',
    name: 'free',
    displayName: 'Free',
    description: 'Kyma runtime of the free tier',
    free: true,
  },
];

const OWN_CLUSTER_ROW: PlanRow = {
  id: '03e3cb66-a4c6-4c6a-b4b0-5d42224debea',
  name: 'own_cluster',
  displayName: 'Own cluster',
  description: 'Attaches an existing Kubernetes cluster by its kubeconfig',
  free: true,
};

const SANDBOX_ROW: PlanRow = {
  id: '5e7b1c1a-7a55-4d0c-9d7e-2f0c8a5f9b11',
  name: 'sandbox',
  displayName: 'Sandbox',
  description: 'A small simulated cluster inside the broker, for a laptop and for tests',
  free: true,
};

export const BUILT_IN_PLANS: readonly Plan[] = [
  ...KYMA_ROWS.map((row) => plan(row, 'kyma', KYMA_SCHEMAS)),
  plan(OWN_CLUSTER_ROW, 'own-cluster', OWN_CLUSTER_SCHEMAS),
  plan(SANDBOX_ROW, 'sandbox', SANDBOX_SCHEMAS),
];
