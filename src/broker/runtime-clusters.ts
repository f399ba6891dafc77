// Opens the admin client of an instance's cluster, and makes sure that it is the cluster that was attached.
// What a client does is left to kubernetes/, where access comes from to the provisioner.
import { BrokerError, UpstreamError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import { type ClusterAccess, parseAccess, sameAccess } from '../kubernetes/cluster-access.ts';
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
    const client = await this.#clientOf(instance);
    try {
      await this.confirm(client, instance, signal);
      return client;
    } catch (error) {
      return await this.openRenewed(instance, { refused: client.access, error, signal });
    }
  }

  /**
   * For who was refused by the cluster: admin access that was replaced at its source since it was read there is taken
   * up at once.
   * @returns a client with the new access
   * @throws `error` where it was no refusal of the access, or the source still has the same; else as `open` does
   */
  async openRenewed(
    instance: Instance,
    { refused, error, signal }: RefusedAccess,
  ): Promise<ClusterClient> {
    const provisioner = this.#parts.provisioners.provisionerOf(instance);
    // Where it is read at each opening, it is the newest there is.
    const isKept = provisioner.forgetAccess !== undefined;
    if (!isRefusalOfAccess(error) || !isKept) throw error;
    this.forget(instance.key);
    const client = await this.#clientOf(instance);
    if (sameAccess(client.access, refused)) throw error;
    await this.confirm(client, instance, signal);
    return client;
  }

  async #clientOf(instance: Instance): Promise<ClusterClient> {
    const { provisioners, openClusters } = this.#parts;
    const runtime = this.runtimeOf(instance);
    const provisioner = provisioners.provisionerOf(instance);
    const access = await provisioner.adminAccess(runtime);
    const isTrusted = provisioner.trustsAddresses ?? false;
    return openClusters.clientFor(instance.key, access, { isTrusted });
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
    if (isRefusalOfAccess(error)) this.forget(instance.key);
  }

  /** Also for when the access is erased, which must not live on in an open client. */
  forget(instanceKey: string): void {
    this.#parts.openClusters.drop(instanceKey);
    this.#parts.provisioners.forgetAccess(instanceKey);
  }
}

export interface RefusedAccess {
  readonly refused: ClusterAccess;
  /** What the cluster, or the connection to it, answered. */
  readonly error: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** That of the cluster, and not of the source of its access. */
function isRefusalOfAccess(error: unknown): boolean {
  return (
    error instanceof UpstreamError &&
    error.system === 'cluster' &&
    (error.reason === 'unauthorized' || error.reason === 'tls')
  );
}
