// Where a process can die that matters: right after a write of the ledger was carried out, or right after a call of the
// cluster was, before either is answered. The points of an act are found by watching it once, so that a step that is
// new to the code joins by itself; then the act is done again for each of them, up to the point and no further.

import type { ClusterProxy } from '../../support/cluster-proxy.ts';
import type { Statement, StatementProxy } from './statement-proxy.ts';

/** A kind of step, and which of its kind in one act: the second `delete clusterroles`, for example. */
export interface CrashPoint {
  readonly step: string;
  readonly occurrence: number;
}

/** What is watched. */
export interface Proxies {
  readonly statements: StatementProxy;
  readonly cluster: ClusterProxy;
  /** Whether the act is one of the background's passes; of another act, what they write is no step. */
  readonly isPass: boolean;
}

/** Watches one act. @returns its points, in the order in which they were reached */
export async function watchAct(
  { statements, cluster, isPass }: Proxies,
  act: () => Promise<unknown>,
): Promise<readonly CrashPoint[]> {
  const counter = new StepCounter();
  const points: CrashPoint[] = [];
  const note = (step: string | undefined) => {
    if (step !== undefined) points.push(counter.count(step));
  };
  statements.watch({
    after: (statement) => {
      note(stepOfStatement(statement, isPass));
      return 'pass';
    },
  });
  const callsBefore = cluster.requests().length;
  try {
    await act();
  } finally {
    statements.watch(undefined);
  }
  for (const line of cluster.requests().slice(callsBefore)) note(stepOfCall(line));
  return points;
}

/** Arms the proxies: from then on, what comes after the point is never answered. @returns when it was reached */
export function armPoint({ statements, cluster, isPass }: Proxies, point: CrashPoint): Armed {
  const reached = Promise.withResolvers<void>();
  const counter = new StepCounter();
  const isIt = (step: string | undefined) => counter.reaches(point, step);
  statements.watch({
    after: (statement) => {
      if (!isIt(stepOfStatement(statement, isPass))) return 'pass';
      reached.resolve();
      return 'keep';
    },
  });
  const call = cluster.misbehave({
    on: { test: (line) => isIt(stepOfCall(line)) },
    act: { kind: 'hold-answer', onCarriedOut: () => reached.resolve() },
  });
  return {
    reached: reached.promise,
    disarm() {
      statements.watch(undefined);
      call.end();
    },
  };
}

export interface Armed {
  readonly reached: Promise<void>;
  disarm(): void;
}

export class StepCounter {
  readonly #seen = new Map<string, number>();

  count(step: string): CrashPoint {
    const occurrence = (this.#seen.get(step) ?? 0) + 1;
    this.#seen.set(step, occurrence);
    return { step, occurrence };
  }

  /** Counts the step, where it is one. @returns whether the point is reached with it */
  reaches(point: CrashPoint, step: string | undefined): boolean {
    return (
      step !== undefined && this.count(step).occurrence === point.occurrence && step === point.step
    );
  }
}

/** Of the ledger alone: what a replica writes about itself or about operations leaves no credential behind. */
const WRITES_LEDGER =
  /\b(?<verb>insert into|update|delete from) "?(?<table>grants|bindings|instances)\b/g;

/** Of these, passes write to instances alone: whose turn it is, and what is forgotten. */
const OF_PASSES_ALONE = /^\s*update "?instances\b/i;

/** What background passes write again and again, due or not. */
const OF_PASSES = /\b(limit|skip locked)\b/i;

export function stepOfStatement(
  { text, committed }: Statement,
  isPass: boolean,
): string | undefined {
  const written = [text, ...committed]
    .filter((each) => isPass || !(OF_PASSES.test(each) || OF_PASSES_ALONE.test(each)))
    .flatMap(writesOf);
  if (written.length === 0) return undefined;
  return `ledger: ${committed.length > 0 ? 'commit of ' : ''}${written.join(', ')}`;
}

function writesOf(text: string): readonly string[] {
  return [...text.toLowerCase().matchAll(WRITES_LEDGER)].map(
    ({ groups }) => `${groups?.['verb'] ?? ''} ${groups?.['table'] ?? ''}`,
  );
}

/** The path without what is drawn anew each time. */
export function stepOfCall(line: string): string {
  const path = line.replace(/\?.*$/, '').replace(/kyma-binding-[a-z0-9-]+/, '{grant}');
  return `cluster: ${path}`;
}
