// Whether a cluster's clock may be trusted with the life of a token. The cluster writes times by its own clock, and
// everybody who looks at the token compares them with theirs: far apart, a token that was just handed out is not
// valid yet, or is over already. Pure: what was measured comes in.

/**
 * Rounded times and a slow answer are no difference; a minute is what clients of tokens commonly allow, and a tenth of
 * the shortest lifetime.
 */
export const CLOCK_LIMIT_SECONDS = 60;

/** A cluster writes the whole second that has begun. */
const WRITTEN_TO_MS = 1_000;

export interface ClockMeasurement {
  /** By our clock, around the call in which the cluster looked at its own. */
  readonly askedAt: Date;
  readonly answeredAt: Date;
  /** What the cluster wrote in between, in whole seconds. */
  readonly written: Date;
}

export interface ClusterClockVerdict {
  /** How far the cluster is ahead of us at the least; negative where it is behind, 0 where both may agree. */
  readonly differenceSeconds: number;
  readonly isTrusted: boolean;
}

export function judgeClusterClock(measured: ClockMeasurement): ClusterClockVerdict {
  const differenceSeconds = leastDifferenceMs(measured) / 1000;
  return { differenceSeconds, isTrusted: Math.abs(differenceSeconds) <= CLOCK_LIMIT_SECONDS };
}

/** What it wrote is as old as the answer at the most, and the second it names may have been nearly over. */
function leastDifferenceMs({ askedAt, answeredAt, written }: ClockMeasurement): number {
  const ahead = written.getTime() - answeredAt.getTime();
  const behind = askedAt.getTime() - (written.getTime() + WRITTEN_TO_MS);
  if (ahead > 0) return ahead;
  return behind > 0 ? -behind : 0;
}
