// Before the first test: says which real parts this machine has, starts one PostgreSQL and one API server for the whole
// run, and hands their addresses to the test files. After the last: stops them.

import type { TestProject } from 'vitest/node';
import type { ClusterOfRun, PartsOfRun, PostgresOfRun } from './provided.ts';
import { type FoundParts, findParts, type Missing, thisMachine } from './real-parts/find.ts';
import { ask } from './real-parts/databases.ts';
import { describeParts, refusalOf } from './real-parts/describe-parts.ts';
import { openGuardedFolder } from './real-parts/guarded-folder.ts';
import { startKubeApiserver } from './real-parts/kube-apiserver.ts';
import { startPostgres } from './real-parts/postgres.ts';

type Stop = () => Promise<void>;

/** May be named by several projects of the configuration: the first that runs starts, the others find what it provided. */
export async function setup(project: TestProject): Promise<Stop | undefined> {
  // On the root project, so that every project is handed the same.
  const root = project.vitest.getRootProject();
  if ('parts' in root.getProvidedContext()) return undefined;
  const env = process.env;
  const found = findParts(thisMachine(env));
  for (const line of await describeParts(found, env)) console.log(line);
  const refusal = refusalOf(found, env);
  if (refusal !== null) throw new Error(refusal);
  const record = openGuardedFolder('leak-record');
  const stops: Stop[] = [];
  const stopAll = async () => {
    await Promise.all(stops.map((stop) => stop()));
    record.remove();
  };
  const starts = [startPostgresOfRun(found, stops), startClusterOfRun(found, stops)] as const;
  await Promise.allSettled(starts);
  try {
    const [postgres, cluster] = await Promise.all(starts);
    const parts: PartsOfRun = {
      postgres,
      cluster,
      kubectl: found.kubectl,
      postgresBinaries: found.postgresBinaries,
      clusterBinaries: clusterBinaries(found),
    };
    root.provide('parts', parts);
    root.provide('leakRecordFolder', record.path);
  } catch (fault) {
    await stopAll();
    throw fault;
  }
  return stopAll;
}

async function startPostgresOfRun(
  found: FoundParts,
  stops: Stop[],
): Promise<PostgresOfRun | Missing> {
  if (!found.pgDump.found) return found.pgDump;
  const pgDump = found.pgDump.path;
  if (found.postgresServer.found) {
    await mustAnswer(found.postgresServer.url);
    return { found: true, url: found.postgresServer.url, logFile: null, pgDump };
  }
  if (!found.postgresBinaries.found) return found.postgresBinaries;
  const postgres = await startPostgres(found.postgresBinaries.path);
  stops.push(() => postgres.stop());
  return { found: true, url: postgres.url, logFile: postgres.logFile, pgDump };
}

async function mustAnswer(url: string): Promise<void> {
  try {
    await ask(url);
  } catch (cause) {
    throw new Error('DATABASE_URL is set, but the PostgreSQL that it names does not answer', {
      cause,
    });
  }
}

async function startClusterOfRun(
  found: FoundParts,
  stops: Stop[],
): Promise<ClusterOfRun | Missing> {
  const binaries = clusterBinaries(found);
  if (!binaries.found) return binaries;
  const cluster = await startKubeApiserver(binaries);
  stops.push(() => cluster.stop());
  const { server, authority, adminKubeconfig } = cluster;
  return { found: true, server, authority, adminKubeconfig };
}

function clusterBinaries({ etcd, kubeApiserver }: FoundParts): PartsOfRun['clusterBinaries'] {
  if (!etcd.found) return etcd;
  if (!kubeApiserver.found) return kubeApiserver;
  return { found: true, etcd: etcd.path, kubeApiserver: kubeApiserver.path };
}
