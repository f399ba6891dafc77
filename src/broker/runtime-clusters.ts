// Opens the admin client of an instance's cluster, and makes sure that it is the cluster that was attached.
// What a client does is left to kubernetes/, where access comes from to the provisioner.
import { BrokerError, UpstreamError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import { type ClusterAccess, parseAccess } from '../kubernetes/cluster-access.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { ClusterIdentity } from '../kubernetes/cluster-identity.ts';
import type { OpenClusters } from '../kubernetes/open-clusters.ts';
import type { ProvisionersByPlan } from '../provisioners/by-plan.ts';
import type { Runtime } from '../provisioners/provisioner.ts';
import type { Db, Tx } from '../storage/database.ts';
import { accessPlace, readSealedAccess } from '../storage/instances.ts';
import { newAccessPlace, readNewAccess } from '../storage/operations.ts';
import type { Sealer } from '../storage/sealing.ts';

export interface RuntimeClustersParts {
  readonly db: Db;
  readonly sealer: Sealer;
  readonly provisioners: ProvisionersByPlan;
  readonly openClusters: OpenClusters;
}

export class RuntimeClusters {
  readonly #parts: RuntimeClustersParts;
  /** A changed access makes a new client, of which nothing is known yet. */
  readonly #identities = new WeakMap<ClusterClient, ClusterIdentity>();

  constructor(parts: RuntimeClustersParts) {
    this.#parts = parts;
  }

  runtimeOf(instance: Instance): Runtime {
    const { db } = this.#parts;
    return {
      instance,
      sealedAccess: () => this.sealedAccessOf(db, instance.key),
    };
  }

  /** Within a transaction, too. @throws SealingError */
  async sealedAccessOf(tx: Tx, instanceKey: string): Promise<ClusterAccess | undefined> {
    const sealed = await readSealedAccess(tx, instanceKey);
    return sealed === undefined
      ? undefined
      : parseAccess(this.#parts.sealer.open(sealed, accessPlace(instanceKey)).reveal());
  }

  /** The admin access that an update brings, until the instance has it; undefined where it brings none. */
  async newAccessOf(tx: Tx, operationId: string): Promise<ClusterAccess | undefined> {
    const sealed = await readNewAccess(tx, operationId);
    return sealed === undefined
      ? undefined
      : parseAccess(this.#parts.sealer.open(sealed, newAccessPlace(operationId)).reveal());
  }

  /**
   * @throws BrokerError `other-cluster` when another cluster answers at the address
   * @throws UpstreamError when the cluster or the source of its access fails
   */
  async open(instance: Instance, signal?: AbortSignal): Promise<ClusterClient> {
    const { provisioners, openClusters } = this.#parts;
    const runtime = this.runtimeOf(instance);
    const provisioner = provisioners.provisionerOf(instance);
    const access = await provisioner.adminAccess(runtime);
    const isTrusted = provisioner.trustsAddresses ?? false;
    const client = openClusters.clientFor(instance.key, access, { isTrusted });
    await this.confirm(client, instance, signal);
    return client;
  }

  /**
   * That what answers the client is still the cluster which was attached. It is asked only where a connection was opened
   * since it last told; so after a row of calls, this says whether all of them went to that cluster, within the bounds
   * that ClusterIdentity names.
   * @throws as `open` does
   */
  async confirm(client: ClusterClient, instance: Instance, signal?: AbortSignal): Promise<void> {
    const identity = this.#identities.get(client) ?? new ClusterIdentity(client);
    this.#identities.set(client, identity);
    const uid = await identity.uid(signal);
    if (uid !== instance.cluster?.uid) {
      this.forget(instance.key);
      throw new BrokerError({
        code: 'other-cluster',
        description: 'Another cluster answers at the address of the one that was attached.',
      });
    }
  }

  /** To be told every failure of a call: after these two the access is read and the cluster asked anew. */
  noticeFailure(instance: Instance, error: unknown): void {
    if (
      error instanceof UpstreamError &&
      (error.reason === 'unauthorized' || error.reason === 'tls')
    ) {
      this.forget(instance.key);
    }
  }

  /** Also for when the access is erased, which must not live on in an open client. */
  forget(instanceKey: string): void {
    this.#parts.openClusters.drop(instanceKey);
  }
}
