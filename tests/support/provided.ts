// What the setup of a run hands to its test files (vitest's provide and inject): which real parts there are and where.

import type { KeyPair } from './real-parts/certificates.ts';
import type { Finding, Missing } from './real-parts/find.ts';
import type { ClusterBinaries } from './real-parts/kube-apiserver.ts';

/** One server for the whole run; each test file makes databases of its own in it. */
export interface PostgresOfRun {
  readonly found: true;
  /** For databases.ts. */
  readonly url: string;
  /** The server's own log; null where DATABASE_URL names the server. */
  readonly logFile: string | null;
  /** Path of the program. */
  readonly pgDump: string;
}

/** One API server for the whole run; test files keep apart by the names of their objects. */
export interface ClusterOfRun {
  readonly found: true;
  readonly server: string;
  readonly authority: KeyPair;
  readonly adminKubeconfig: string;
}

export interface PartsOfRun {
  readonly postgres: PostgresOfRun | Missing;
  readonly cluster: ClusterOfRun | Missing;
  readonly kubectl: Finding;
  /** Folder with initdb and postgres, for tests that crash a server of their own. */
  readonly postgresBinaries: Finding;
  /** For tests that crash a cluster of their own. */
  readonly clusterBinaries: ({ readonly found: true } & ClusterBinaries) | Missing;
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly parts: PartsOfRun;
    /** Folder of leak-record.ts. */
    readonly leakRecordFolder: string;
  }
}
