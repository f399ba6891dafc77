// Plan `own_cluster`: a cluster that exists already is attached by its kubeconfig. Nothing is made but the namespace
// of the grants, and that one stays when the instance goes (docs/api.md, "Delete an instance").
import { BrokerError, UpstreamError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { type AddressGuard, sentenceOfRefusal } from '../../kubernetes/address-guard.ts';
import type { ClusterAccess } from '../../kubernetes/cluster-access.ts';
import type { OpenClusters } from '../../kubernetes/open-clusters.ts';
import { readKubeconfig } from '../../kubernetes/read-kubeconfig.ts';
import type { AdmittedParameters, Provisioner, Runtime } from '../provisioner.ts';
import { makeNamespace } from '../steps/make-namespace.ts';
import { reachCluster } from '../steps/reach-cluster.ts';
import { DEPROVISION_SECONDS } from '../steps/deprovision-seconds.ts';
import { checkNewAccess } from './check-new-access.ts';
import { checkRights } from './check-rights.ts';
import { demandRights } from './demand-rights.ts';
import { reachSameCluster } from './reach-same-cluster.ts';

/** A cluster that somebody wants attached is up; this bridges an upgrade of its control plane, or a restart of ours. */
const PROVISION_SECONDS = 5 * 60;

export interface OwnClusterParts {
  readonly clusters: OpenClusters;
  readonly guard: AddressGuard;
}

export function ownClusterProvisioner({ clusters, guard }: OwnClusterParts): Provisioner {
  const parts = {
    clientOf: async (runtime: Runtime) =>
      clusters.clientFor(runtime.instance.key, await adminAccess(runtime)),
  };
  return {
    name: 'own-cluster',
    provisionSeconds: PROVISION_SECONDS,
    provision: [
      // Who may not even ask learns all that is missing at once, as the next step would name it.
      reachCluster({ ...parts, whenForbidden: demandRights }),
      checkRights(parts),
      makeNamespace(parts),
    ],
    deprovisionSeconds: DEPROVISION_SECONDS,
    deprovision: [],
    update: [checkNewAccess(clusters)],
    // The cluster is somebody else's, and so is what it costs.
    suspend: [],
    resume: [reachSameCluster(parts), checkRights(parts), makeNamespace(parts)],
    admit,
    admitChange,
    checkNewAccess: (access) => checkAddress(access, guard),
    adminAccess,
  };
}

function admitChange(parameters: JsonObject): AdmittedParameters {
  return parameters['kubeconfig'] === undefined
    ? { parameters, access: undefined }
    : admit(parameters);
}

function admit(parameters: JsonObject): AdmittedParameters {
  const { kubeconfig, ...shown } = parameters;
  if (typeof kubeconfig !== 'string') {
    throw new BrokerError({
      code: 'invalid-parameters',
      description: 'parameters.kubeconfig must be the text of a kubeconfig',
    });
  }
  return { parameters: shown, access: readKubeconfig(kubeconfig) };
}

/** What can be said without asking a name's servers; where names lead is judged at each connection. */
async function checkAddress({ server }: ClusterAccess, guard: AddressGuard): Promise<void> {
  const refused = await guard.refusalOf(server);
  if (refused !== undefined) {
    throw new BrokerError({ code: 'invalid-parameters', description: sentenceOfRefusal(refused) });
  }
}

async function adminAccess({ instance, sealedAccess }: Runtime): Promise<ClusterAccess> {
  const access = await sealedAccess();
  if (access === undefined) {
    throw new UpstreamError({
      system: 'cluster',
      action: 'open the access of an own cluster',
      reason: 'not-found',
      detail: `no access is kept for instance ${instance.key}`,
    });
  }
  return access;
}
