// The two servers around the broker: PostgreSQL and a Kubernetes API server, started to be thrown away, or the ones
// that the person named.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createDatabase, dropDatabase } from '../tests/support/real-parts/databases.ts';
import { startKubeApiserver } from '../tests/support/real-parts/kube-apiserver.ts';
import { startPostgres } from '../tests/support/real-parts/postgres.ts';
import { DemoFailure } from './demo-failure.ts';
import type { OwnFolder } from './own-folder.ts';
import type { ClusterPart, DatabasePart } from './real-parts.ts';
import type { Started } from './unwinding.ts';

export interface Cluster {
  /** A file, so that kubectl can be shown with it. */
  readonly adminKubeconfigFile: string;
  readonly adminKubeconfig: string;
}

/** @returns the URL of an empty database */
export async function startDatabase(part: DatabasePart): Promise<Started<string>> {
  if (part.kind === 'programs') {
    const postgres = await startPostgres(part.folder);
    return {
      what: postgres.url,
      undo: { title: 'Stop PostgreSQL', run: () => postgres.stop() },
    };
  }
  const name = `runtime_broker_demo_${randomBytes(4).toString('hex')}`;
  try {
    const url = await createDatabase(part.url, name);
    return {
      what: url,
      undo: { title: `Drop the database ${name}`, run: () => dropDatabase(part.url, name) },
    };
  } catch (error) {
    // The driver's words name the host or the user, never the password.
    const cause = error instanceof Error ? messageOf(error) : String(error);
    throw new DemoFailure(`No database could be made on the PostgreSQL of DATABASE_URL: ${cause}`, [
      'Correct DATABASE_URL, or unset it to have the demo start a PostgreSQL of its own.',
    ]);
  }
}

/** A host with several addresses fails with an error for each, and no message of its own. */
function messageOf(error: Error): string {
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return first instanceof Error ? first.message : error.message;
}

export async function openCluster(part: ClusterPart, folder: OwnFolder): Promise<Started<Cluster>> {
  if (part.kind === 'attached') {
    const { kubeconfigFile } = part;
    const adminKubeconfig = readKubeconfig(kubeconfigFile);
    return { what: { adminKubeconfigFile: kubeconfigFile, adminKubeconfig }, undo: undefined };
  }
  const apiserver = await startKubeApiserver(part);
  const { adminKubeconfig } = apiserver;
  const adminKubeconfigFile = folder.write('admin-kubeconfig', adminKubeconfig);
  return {
    what: { adminKubeconfigFile, adminKubeconfig },
    undo: { title: 'Stop kube-apiserver and etcd', run: () => apiserver.stop() },
  };
}

/** What it may hold is the broker's to say. */
export function readKubeconfig(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new DemoFailure(`The kubeconfig ${file} cannot be read (${code}).`);
  }
}
