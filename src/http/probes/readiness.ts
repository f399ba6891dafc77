// What the readiness probe reports. The checks are made elsewhere; this is their form.

export type CheckResult = 'ok' | 'failing';

export interface Readiness {
  readonly checks: {
    /** It answers, and its schema is the one this version needs. */
    readonly database: CheckResult;
    /** Ours and the database's agree well enough. */
    readonly clock: CheckResult;
    /** The engine that wakes operations runs. */
    readonly jobs: CheckResult;
  };
  /** Sentences for an operator about what does not stop the broker. */
  readonly warnings: readonly string[];
}

/** Must settle soon whatever is away: a probe has a time-out of its own. */
export type ReadinessCheck = () => Promise<Readiness>;
