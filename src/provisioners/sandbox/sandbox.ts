// Plan `sandbox`, on the embedded default alone: each instance has a small cluster of its own inside this process, which
// goes with the instance. Admin access is asked of the sandbox each time; nothing of it is sealed in the ledger.
import { UpstreamError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { ClusterAccess } from '../../kubernetes/cluster-access.ts';
import type { OpenClusters } from '../../kubernetes/open-clusters.ts';
import type { Provisioner, Runtime } from '../provisioner.ts';
import { DEPROVISION_SECONDS } from '../steps/deprovision-seconds.ts';
import { makeNamespace } from '../steps/make-namespace.ts';
import { reachCluster } from '../steps/reach-cluster.ts';
import { makeCluster } from './make-cluster.ts';
import { removeCluster } from './remove-cluster.ts';
import type { SandboxHost } from './sandbox-host.ts';

/** It takes well under a second; this bridges a restart of the process. */
const PROVISION_SECONDS = 5 * 60;

export interface SandboxParts {
  readonly clusters: OpenClusters;
  readonly host: SandboxHost;
}

export function sandboxProvisioner({ clusters, host }: SandboxParts): Provisioner {
  const adminAccess = ({ instance }: Runtime): Promise<ClusterAccess> => {
    const access = host.accessTo(instance.key);
    return access === undefined ? Promise.reject(noCluster(instance.key)) : Promise.resolve(access);
  };
  const parts = {
    clientOf: async (runtime: Runtime) =>
      clusters.clientFor(runtime.instance.key, await adminAccess(runtime), { isTrusted: true }),
  };
  const provision = [makeCluster(host), reachCluster(parts), makeNamespace(parts)];
  const admit = (parameters: JsonObject) => ({ parameters, access: undefined });
  return {
    name: 'sandbox',
    provisionSeconds: PROVISION_SECONDS,
    provision,
    deprovisionSeconds: DEPROVISION_SECONDS,
    deprovision: [removeCluster(host)],
    update: [],
    suspend: [removeCluster(host)],
    resume: provision,
    suspensionRemovesRuntime: true,
    admit,
    admitChange: admit,
    trustsAddresses: true,
    adminAccess,
    // It is made and removed here and nowhere else, so what is not here is nowhere.
    clusterIsGone: ({ instance }) => Promise.resolve(host.accessTo(instance.key) === undefined),
  };
}

function noCluster(instanceKey: string): UpstreamError {
  return new UpstreamError({
    system: 'cluster',
    action: 'open a sandbox cluster',
    reason: 'not-found',
    detail: `there is no sandbox cluster for instance ${instanceKey}`,
  });
}
