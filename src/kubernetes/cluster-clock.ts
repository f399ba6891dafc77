// Refuses a token of a cluster whose clock is not ours (domain/cluster-clock.ts judges). Measured by the token's own
// `iat`: what the API server wrote, while the Date of an answer may be a proxy's.

import {
  CLOCK_LIMIT_SECONDS,
  type ClockMeasurement,
  judgeClusterClock,
} from '../domain/cluster-clock.ts';
import { UpstreamError } from '../domain/errors.ts';

export class ClusterClockError extends UpstreamError {
  /** How far the cluster is ahead of us; negative where it is behind. */
  readonly differenceSeconds: number;

  constructor(differenceSeconds: number) {
    super({
      system: 'cluster',
      action: 'create serviceaccounts/token',
      reason: 'malformed-answer',
      detail: `the cluster's clock is ${differenceSeconds} s ahead of ours, ${CLOCK_LIMIT_SECONDS} s are allowed`,
    });
    this.name = 'ClusterClockError';
    this.differenceSeconds = differenceSeconds;
  }
}

/** @throws ClusterClockError */
export function checkClusterClock(measured: ClockMeasurement): void {
  const { differenceSeconds, isTrusted } = judgeClusterClock(measured);
  if (!isTrusted) throw new ClusterClockError(differenceSeconds);
}
