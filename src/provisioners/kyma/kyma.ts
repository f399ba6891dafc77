// The plans of Kyma runtimes: each instance is a Runtime and a Kyma resource on the control plane (KCP), from which
// others make a cluster. Admin access to it comes from there, too; nothing of it is kept in the ledger.
import type { Clock } from '../../domain/clock.ts';
import { BrokerError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { cleaned } from '../../domain/shown-text.ts';
import type { OpenClusters } from '../../kubernetes/open-clusters.ts';
import type {
  AdmittedParameters,
  Provisioner,
  ProvisionContext,
  Runtime,
  Step,
} from '../provisioner.ts';
import { reachCluster } from '../steps/reach-cluster.ts';
import { checkRuntime, whenUsable } from './check-runtime.ts';
import { RUNTIMES } from './control-plane.ts';
import { nameOfRuntime } from './kyma-order.ts';
import type { KymaParts } from './kyma-parts.ts';
import { makeKyma } from './make-kyma.ts';
import { makeRuntime } from './make-runtime.ts';
import { removeKyma } from './remove-kyma.ts';
import { removeRuntime } from './remove-runtime.ts';
import { RuntimeAccess } from './runtime-access.ts';
import { waitForRuntime } from './wait-for-runtime.ts';

/** A cluster that is not there after an hour is not coming; the platform's user is told so after 20 minutes. */
const PROVISION_SECONDS = 60 * 60;

/** An hour for the cluster, after the two minutes that revocation may take, and some for the modules. */
const DEPROVISION_SECONDS = 75 * 60;

export interface KymaProvisionerParts extends KymaParts {
  readonly clusters: OpenClusters;
  readonly clock: Clock;
}

export function kymaProvisioner(parts: KymaProvisionerParts): Provisioner {
  const { clusters, controlPlane, clock } = parts;
  const access = new RuntimeAccess(controlPlane, clock);
  const reach = {
    ...parts,
    clientOf: async (runtime: Runtime) =>
      clusters.clientFor(runtime.instance.key, await access.of(runtime), { isTrusted: true }),
    forgetAccess: (instanceKey: string) => access.forget(instanceKey),
  };
  const attach = reachCluster(reach);
  const attachCluster: Step<ProvisionContext> = {
    name: attach.name,
    run: (context) => whenUsable(reach, context, () => attach.run(context)),
  };
  // The cluster is attached last: what has none may still be in the making, by a call that is on its way.
  const make = [
    makeRuntime(parts),
    waitForRuntime(parts),
    checkRuntime(reach),
    makeKyma(parts),
    attachCluster,
  ];
  const remove = [removeKyma(parts), removeRuntime(parts)];
  return {
    name: 'kyma',
    provisionSeconds: PROVISION_SECONDS,
    provision: make,
    deprovisionSeconds: DEPROVISION_SECONDS,
    deprovision: remove,
    update: [],
    suspend: remove,
    resume: make,
    suspensionRemovesRuntime: true,
    admit: (parameters) => ({ parameters, access: undefined }),
    admitChange,
    trustsAddresses: true,
    adminAccess: (runtime) => access.of(runtime),
    forgetAccess: reach.forgetAccess,
    // Without an id nothing was ever made.
    clusterIsGone: async ({ instance: { runtimeId } }, signal) =>
      runtimeId === undefined ||
      (await controlPlane.find(RUNTIMES, nameOfRuntime(runtimeId), signal)) === undefined,
  };
}

/** What an update changes beyond the name would have to be written into the Runtime, which no step does. */
function admitChange(parameters: JsonObject): AdmittedParameters {
  const fixed = Object.keys(parameters).find((key) => key !== 'name');
  if (fixed !== undefined) {
    throw new BrokerError({
      code: 'invalid-parameters',
      description: `parameters.${cleaned(fixed)} of a Kyma runtime cannot be changed`,
    });
  }
  return { parameters, access: undefined };
}
