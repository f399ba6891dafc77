// What every kind of runtime offers the rest of the broker: how a request is admitted, the steps that make and
// remove a runtime, and admin access to it. Steps know nothing of rows: the runner stores what they return.
import type { AttachedCluster, Instance } from '../domain/instance.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Operation } from '../domain/operation.ts';
import type { Plan, ProvisionerName } from '../domain/plan.ts';
import type { ClusterAccess } from '../kubernetes/cluster-access.ts';

export interface Runtime {
  readonly instance: Instance;
  /**
   * The admin access that was sealed for the instance; undefined where none is kept. Opened on demand, so that what
   * needs none goes on when it cannot be opened: then this throws SealingError.
   */
  readonly sealedAccess: () => Promise<ClusterAccess | undefined>;
}

export interface StepContext {
  readonly runtime: Runtime;
  readonly operation: Operation;
  readonly now: Date;
  /** Fires when the process stops or the step's lease is about to end; the step is run again later. */
  readonly signal: AbortSignal;
}

/** What makes a runtime goes by its plan; what removes it may have to do without, if the plan left the configuration. */
export interface ProvisionContext extends StepContext {
  readonly plan: Plan;
}

/** What the instance is to become is in `operation.change`. */
export interface UpdateContext extends ProvisionContext {
  /**
   * The admin access that the request brought; undefined where it brought none, or the one that is kept already. As
   * `sealedAccess`, it throws SealingError where it cannot be opened.
   */
  readonly newAccess: () => Promise<ClusterAccess | undefined>;
}

/**
 * `cluster` is stored with the step's end, but for an update: there only that of its last step counts, and is stored
 * with the success of all; `wait` runs the same step again after the delay.
 */
export type StepOutcome =
  | { readonly outcome: 'done'; readonly cluster?: AttachedCluster }
  | { readonly outcome: 'wait'; readonly delayMs: number; readonly description: string };

/**
 * One idempotent piece of an operation: it may be run again after a crash at any point of it. It throws BrokerError
 * where the operation cannot succeed, with the description that the platform's user will read, and UpstreamError
 * where a system failed; the runner decides whether that is worth repeating.
 */
export interface Step<Context extends StepContext = StepContext> {
  readonly name: string;
  readonly run: (context: Context) => Promise<StepOutcome>;
  /**
   * Removes what `run` may have made, as far as that is to be gone once the operation has failed. Idempotent as well, and
   * repeated until it is done: there is nobody left to fail for.
   */
  readonly undo?: (context: StepContext) => Promise<StepOutcome>;
}

export interface AdmittedParameters {
  /** What is kept in clear and shown again: no secret in it. */
  readonly parameters: JsonObject;
  /** Admin access that came with the request, to be sealed. */
  readonly access: ClusterAccess | undefined;
}

export interface Provisioner {
  readonly name: ProvisionerName;
  /** How long making, changing or resuming a runtime may take before it ends as failed. */
  readonly provisionSeconds: number;
  readonly provision: readonly Step<ProvisionContext>[];
  /** How long deprovisioning, or a suspension, may take, the revocation of bindings included, before it ends as failed. */
  readonly deprovisionSeconds: number;
  /** Run after the instance's bindings have been ended. */
  readonly deprovision: readonly Step[];
  /**
   * Brings the runtime to what the request asked for; none where nothing has to be done for it. Until the last one has
   * succeeded, the instance is served as it was.
   */
  readonly update: readonly Step<UpdateContext>[];
  /** Run after the instance's bindings have been ended; afterwards there is nothing that costs. */
  readonly suspend: readonly Step[];
  readonly resume: readonly Step<ProvisionContext>[];
  /**
   * Set where a suspension removes the cluster, so that what was not revoked on it has gone with it, and a resumption
   * makes another one, under a new runtime id.
   */
  readonly suspensionRemovesRuntime?: true;
  /**
   * Takes secrets out of parameters that already passed the plan's schema.
   * @throws BrokerError `invalid-parameters`
   */
  admit(parameters: JsonObject): AdmittedParameters;
  /** The same for those of an update, which gives some and leaves the others. */
  admitChange(parameters: JsonObject): AdmittedParameters;
  /**
   * Asked about access that came with a request, unless it is the one that an instance has.
   * @throws BrokerError `invalid-parameters` where it may not be used whatever the cluster says
   */
  checkNewAccess?(access: ClusterAccess): Promise<void>;
  /** Set where admin access comes from our own systems and not from a caller, so that its address is not judged. */
  readonly trustsAddresses?: true;
  /** @throws UpstreamError when the source of admin access fails. */
  adminAccess(runtime: Runtime): Promise<ClusterAccess>;
  /** Set where admin access is kept in memory; the next call of adminAccess asks its source. */
  forgetAccess?(instanceKey: string): void;
  /**
   * Whether whoever makes its clusters says that this one does not exist any more, which ends what is left on it. A
   * cluster that is silent is not gone; where nobody can say, a provisioner leaves this out.
   */
  clusterIsGone?(runtime: Runtime, signal: AbortSignal): Promise<boolean>;
}
