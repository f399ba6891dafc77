// Where a sandbox keeps what a second start must find. All calls are synchronous: a change is kept before its request
// is answered, and no other request comes between.

import type { JsonObject } from '../api/kube-object.ts';

export interface KeyPair {
  readonly certPem: string;
  /** PKCS #8. */
  readonly keyPem: string;
}

/** What all clusters of a sandbox share. */
export interface SandboxIdentity {
  readonly authority: KeyPair;
  readonly server: KeyPair;
  /** The addresses and names that the server's certificate is for. */
  readonly serverNames: readonly string[];
  readonly port: number;
}

/** The changes of one cluster, in their order. */
export interface Journal {
  /** Those that were kept whole; what a crash tore is gone, and was never answered for. */
  read(): readonly JsonObject[];
  append(change: JsonObject): void;
  /** All earlier ones are gone, at once and altogether: a crash leaves the old or the new. */
  replace(changes: readonly JsonObject[]): void;
  close(): void;
}

export interface SandboxStore {
  readIdentity(): SandboxIdentity | undefined;
  writeIdentity(identity: SandboxIdentity): void;
  clusterNames(): readonly string[];
  /** Made where it is missing. Open one at a time. */
  openJournal(clusterName: string): Journal;
  /** Once its journal is closed. */
  removeJournal(clusterName: string): void;
}
