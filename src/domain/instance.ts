// An instance: the record of one service instance, and the state that follows from its latest operation.
import type { Accounts } from './accounts.ts';
import type { JsonObject } from './json.ts';
import type { Operation } from './operation.ts';
import type { ProvisionerName } from './plan.ts';

/** What is known of the target cluster once provisioning has reached it; none of it is secret. */
export interface AttachedCluster {
  /** The uid of namespace `kube-system`: another uid is another cluster. */
  readonly uid: string;
  readonly server: string;
  /** Base64 of PEM, as in a kubeconfig; undefined where the system's roots vouch for the server. */
  readonly certificateAuthorityData: string | undefined;
  readonly tlsServerName: string | undefined;
}

export interface Instance {
  /** Our own key: an OSB id can be deleted and made anew while the old access is still needed. */
  readonly key: string;
  readonly id: string;
  readonly serviceId: string;
  readonly planId: string;
  /** Kept with the instance: its plan may leave the configuration before it does. */
  readonly provisioner: ProvisionerName;
  /** Names the cluster, context and user in issued kubeconfigs. */
  readonly name: string;
  /** Where the runtime is. */
  readonly region: string;
  /** BTP region of the platform that asked for it. */
  readonly platformRegion: string;
  readonly runtimeId: string | undefined;
  readonly accounts: Accounts;
  /** As requested, without secrets. */
  readonly parameters: JsonObject;
  readonly cluster: AttachedCluster | undefined;
  /** Since when it is known that its cluster does not exist any more: nothing on it is left to be revoked. */
  readonly clusterGoneAt: Date | undefined;
  readonly createdAt: Date;
  readonly deletedAt: Date | undefined;
}

export type InstanceState =
  | 'provisioning'
  | 'ready'
  | 'updating'
  | 'suspending'
  | 'suspended'
  | 'resuming'
  | 'deprovisioning'
  | 'deleted'
  | 'create-failed'
  | 'delete-failed';

const WHILE_RUNNING = {
  provision: 'provisioning',
  update: 'updating',
  deprovision: 'deprovisioning',
  suspend: 'suspending',
  resume: 'resuming',
} as const;

const ONCE_SUCCEEDED = {
  provision: 'ready',
  update: 'ready',
  deprovision: 'deleted',
  suspend: 'suspended',
  resume: 'ready',
} as const;

/** A failed update leaves the instance as it was; a failed suspension or resumption leaves it without a runtime. */
const ONCE_FAILED = {
  provision: 'create-failed',
  update: 'ready',
  deprovision: 'delete-failed',
  suspend: 'suspended',
  resume: 'suspended',
} as const;

/** What a failed operation says of its instance (OSB 2.17, Service Broker Errors). */
export interface LeftByFailure {
  readonly instanceUsable: boolean;
  /** Only where the request was a PATCH. */
  readonly updateRepeatable?: boolean;
}

/** Undefined for what has not failed, and for a provisioning, of which OSB wants nothing said (C28, C112). */
export function leftByFailure(
  operation: Pick<Operation, 'type' | 'state'>,
): LeftByFailure | undefined {
  const { type, state } = operation;
  if (state !== 'failed' || type === 'provision') {
    return undefined;
  }
  // A failed update has changed nothing; after any other, no binding can be made.
  const left = { instanceUsable: instanceState(operation) === 'ready' };
  return type === 'deprovision' ? left : { ...left, updateRepeatable: true };
}

/** The state is not stored: it is what the latest operation says. */
export function instanceState(latest: Pick<Operation, 'type' | 'state'>): InstanceState {
  switch (latest.state) {
    case 'in progress':
      return WHILE_RUNNING[latest.type];
    case 'succeeded':
      return ONCE_SUCCEEDED[latest.type];
    case 'failed':
      return ONCE_FAILED[latest.type];
  }
}
