// Long work on an instance, done step by step by the runner; its row outlives every process that works on it.

export type OperationType = 'provision' | 'update' | 'deprovision' | 'suspend' | 'resume';

/** The words of OSB 2.17, Polling Last Operation; clients break on any other. */
export type OperationState = 'in progress' | 'succeeded' | 'failed';

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
}
