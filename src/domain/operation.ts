// Long work on an instance, done step by step by the runner; its row outlives every process that works on it.
import type { Accounts } from './accounts.ts';
import type { JsonObject } from './json.ts';

export type OperationType = 'provision' | 'update' | 'deprovision' | 'suspend' | 'resume';

/** The words of OSB 2.17, Polling Last Operation; clients break on any other. */
export type OperationState = 'in progress' | 'succeeded' | 'failed';

/** What an operation will make of its instance once it has succeeded; until then, and if it fails, all stays as it is. */
export interface InstanceChange {
  /** All of them as they will be, without secrets. A new admin access is kept apart, sealed. */
  readonly parameters: JsonObject;
  /** Those that the request gave. */
  readonly accounts: Accounts;
}

export interface Operation {
  readonly id: string;
  readonly instanceKey: string;
  readonly type: OperationType;
  readonly state: OperationState;
  /** Name of the step to run next; undefined before the first and once ended. */
  readonly step: string | undefined;
  /** How often the current step has failed in a way that is worth repeating. */
  readonly attempt: number;
  readonly nextRunAt: Date;
  /** Past it the operation ends as failed, and what it made is removed. */
  readonly deadline: Date;
  /** A sentence for the platform's user. */
  readonly description: string;
  readonly createdAt: Date;
  /** Undefined where the operation was accepted for none. */
  readonly change: InstanceChange | undefined;
}
