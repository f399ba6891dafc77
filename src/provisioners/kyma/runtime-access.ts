// Admin access to Kyma runtimes: the kubeconfig that the infrastructure manager keeps in a Secret on the control plane
// and replaces twice a day. It is kept in memory, never in the ledger, and read anew once a cluster refuses it.
import type { Clock } from '../../domain/clock.ts';
import { BrokerError, UpstreamError } from '../../domain/errors.ts';
import type { ClusterAccess } from '../../kubernetes/cluster-access.ts';
import { readKubeconfig } from '../../kubernetes/read-kubeconfig.ts';
import type { Runtime } from '../provisioner.ts';
import { type ControlPlane, type ControlPlaneObject, malformed, SECRETS } from './control-plane.ts';
import { kubeconfigSecretName } from './kyma-order.ts';

/**
 * A kubeconfig holds for 24 h and is replaced after 14 h at the latest, so one that was read has ten hours to go; half
 * of that leaves room for a manager that is late.
 */
const KEEP_MS = 5 * 60 * 60 * 1000;

/** As many as clients are kept open; whoever comes back later costs one question to the control plane. */
const MAX_KEPT = 512;

/** In the Secret's data. */
const KUBECONFIG_KEY = 'config';

interface Kept {
  /** An instance that was suspended comes back with another one. */
  readonly runtimeId: string;
  readonly readAt: Date;
  readonly access: Promise<ClusterAccess>;
}

export class RuntimeAccess {
  readonly #controlPlane: ControlPlane;
  readonly #clock: Clock;
  /** By the instance's key, in the order of reading. */
  readonly #kept = new Map<string, Kept>();

  constructor(controlPlane: ControlPlane, clock: Clock) {
    this.#controlPlane = controlPlane;
    this.#clock = clock;
  }

  /** Callers at the same time share one question. @throws UpstreamError of the control plane */
  async of({ instance: { key, runtimeId } }: Pick<Runtime, 'instance'>): Promise<ClusterAccess> {
    if (runtimeId === undefined) throw missing('the instance has no runtime');
    const now = this.#clock();
    const kept = this.#kept.get(key);
    const isFresh = kept !== undefined && now.getTime() - kept.readAt.getTime() < KEEP_MS;
    if (isFresh && kept.runtimeId === runtimeId) return await kept.access;
    const reading = { runtimeId, readAt: now, access: this.#read(runtimeId) };
    this.#keep(key, reading);
    try {
      return await reading.access;
    } catch (error) {
      if (this.#kept.get(key) === reading) this.forget(key);
      throw error;
    }
  }

  forget(instanceKey: string): void {
    this.#kept.delete(instanceKey);
  }

  #keep(key: string, reading: Kept): void {
    this.#kept.delete(key);
    this.#kept.set(key, reading);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }

  async #read(runtimeId: string): Promise<ClusterAccess> {
    const secret = await this.#controlPlane.find(SECRETS, kubeconfigSecretName(runtimeId));
    if (secret === undefined) throw missing('there is no Secret with its kubeconfig');
    return accessIn(secret);
  }
}

function accessIn({ data }: ControlPlaneObject): ClusterAccess {
  const encoded = data?.[KUBECONFIG_KEY] ?? '';
  if (encoded === '') throw missing(`its Secret has no ${KUBECONFIG_KEY}`);
  try {
    return readKubeconfig(Buffer.from(encoded, 'base64').toString('utf8'));
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    throw malformed(ACTION, error.message);
  }
}

const ACTION = 'read the admin kubeconfig of a runtime';

function missing(detail: string): UpstreamError {
  return new UpstreamError({
    system: 'control-plane',
    action: ACTION,
    reason: 'not-found',
    detail,
  });
}
