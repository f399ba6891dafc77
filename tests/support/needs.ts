// Marks tests that need a real part: where it is missing they are skipped, with a title that says why.

import { describe, inject } from 'vitest';
import type { PartsOfRun } from './provided.ts';

export interface Needs {
  /** A PostgreSQL: freshDatabase() of database.ts. */
  readonly postgres?: boolean;
  /** The cluster of the run: sharedCluster() of cluster.ts. */
  readonly cluster?: boolean;
  readonly kubectl?: boolean;
  /** A PostgreSQL that the test may crash: ownPostgres() of database.ts. */
  readonly ownPostgres?: boolean;
  /** A cluster that the test may crash: ownCluster() of cluster.ts. */
  readonly ownCluster?: boolean;
}

const PART_OF = {
  postgres: { part: 'postgres', called: 'PostgreSQL' },
  cluster: { part: 'cluster', called: 'a real kube-apiserver' },
  kubectl: { part: 'kubectl', called: 'kubectl' },
  ownPostgres: { part: 'postgresBinaries', called: 'a PostgreSQL of its own' },
  ownCluster: { part: 'clusterBinaries', called: 'a real kube-apiserver of its own' },
} as const satisfies Record<keyof Needs, { part: keyof PartsOfRun; called: string }>;

/** `describe`, or a visible skip. */
export function describeWith(needs: Needs, title: string, body: () => void): void {
  const missing = whatIsMissing(needs, inject('parts'));
  if (missing.length === 0) describe(title, body);
  else describe.skip(`${title} (skipped, this machine lacks ${missing.join(' and ')})`, body);
}

/** In words; empty when nothing is. */
export function whatIsMissing(needs: Needs, parts: PartsOfRun): readonly string[] {
  return Object.entries(PART_OF)
    .filter(([need, { part }]) => needs[need as keyof Needs] === true && !parts[part].found)
    .map(([, { called }]) => called);
}
