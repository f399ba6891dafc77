// The parts that every verb works with. They are built once, in app/compose.ts; a verb is a function of them.
import type { Clock } from '../domain/clock.ts';
import type { Marker } from '../kubernetes/grant-mark.ts';
import type { Logger } from '../observability/logger.ts';
import type { ProvisionersByPlan } from '../provisioners/by-plan.ts';
import type { Db } from '../storage/database.ts';
import type { GrantSignals } from '../storage/grant-signals.ts';
import type { JobEngine } from '../storage/job-engine.ts';
import type { Sealer } from '../storage/sealing.ts';
import type { InstanceTurns } from './instance-turns.ts';
import type { ParameterRules } from './parameter-rules.ts';
import type { RuntimeClusters } from './runtime-clusters.ts';

/** Where ids and names come from; an argument, so that tests can foresee them. */
export interface Draw {
  readonly uuid: () => string;
  /** That many characters of [a-z0-9]. */
  readonly letters: (length: number) => string;
}

export interface BrokerLimits {
  /** After this an issue stops and is undone (docs/api.md, "Bind"). */
  readonly createTimeoutMs: number;
  /** What undoing a failed issue may take on top. */
  readonly undoTimeoutMs: number;
  /** How long one request to delete a binding tries before it leaves the rest to the reconciler. */
  readonly deleteTimeoutMs: number;
}

export interface Broker {
  readonly db: Db;
  readonly sealer: Sealer;
  readonly jobs: JobEngine;
  readonly signals: GrantSignals;
  readonly turns: InstanceTurns;
  readonly provisioners: ProvisionersByPlan;
  readonly clusters: RuntimeClusters;
  readonly parameterRules: ParameterRules;
  /**
   * Who marks objects on clusters; throws UpstreamError while the database has not been reached yet, and SealingError
   * when the key of the marks cannot be opened.
   */
  readonly marker: () => Marker;
  readonly replicaId: string;
  readonly limits: BrokerLimits;
  readonly clock: Clock;
  /** What the clocks of clusters are compared with; not `clock` only where a test moves that alone. */
  readonly clusterClock: Clock;
  readonly draw: Draw;
  readonly sleep: (delayMs: number, signal?: AbortSignal) => Promise<void>;
  readonly log: Logger;
}
