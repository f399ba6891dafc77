// Before the first test: says which real parts this machine has, starts one PostgreSQL and one API server for the whole
// run, and hands their addresses to the test files. After the last: stops them.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import type { ClusterOfRun, PartsOfRun, PostgresOfRun } from './provided.ts';
import {
  type Finding,
  type FoundParts,
  findParts,
  type Missing,
  thisMachine,
} from './real-parts/find.ts';
import { openGuardedFolder } from './real-parts/guarded-folder.ts';
import { startKubeApiserver } from './real-parts/kube-apiserver.ts';
import { type Environment, shortened } from './real-parts/parts.ts';
import { startPostgres } from './real-parts/postgres.ts';

type Stop = () => Promise<void>;

export async function setup(project: TestProject): Promise<Stop> {
  const env = process.env;
  const found = findParts(thisMachine(env));
  for (const line of await report(found, env)) console.log(line);
  refuseMissing(found, env);
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
    // On the root project, so that the leak search in a project of its own is handed the same.
    const root = project.vitest.getRootProject();
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
  if (found.postgresServer.found) return { found: true, url: found.postgresServer.url, pgDump };
  if (!found.postgresBinaries.found) return found.postgresBinaries;
  const postgres = await startPostgres(found.postgresBinaries.path);
  stops.push(postgres.stop);
  return { found: true, url: postgres.url, pgDump };
}

async function startClusterOfRun(
  found: FoundParts,
  stops: Stop[],
): Promise<ClusterOfRun | Missing> {
  const binaries = clusterBinaries(found);
  if (!binaries.found) return binaries;
  const cluster = await startKubeApiserver(binaries);
  stops.push(cluster.stop);
  const { server, authority, adminKubeconfig } = cluster;
  return { found: true, server, authority, adminKubeconfig };
}

function clusterBinaries({ etcd, kubeApiserver }: FoundParts): PartsOfRun['clusterBinaries'] {
  if (!etcd.found) return etcd;
  if (!kubeApiserver.found) return kubeApiserver;
  return { found: true, etcd: etcd.path, kubeApiserver: kubeApiserver.path };
}

/** In CI, and wherever a person asks for it, a skip would hide what was not tested. */
function refuseMissing(found: FoundParts, env: Environment): void {
  const demanded = ['CI', 'REQUIRE_REAL'].find((name) => isSet(env[name]));
  if (demanded === undefined) return;
  const missing = programs(found).filter(([, , finding]) => !finding.found);
  if (missing.length === 0) return;
  const names = missing.map(([name]) => name).join(', ');
  throw new Error(
    `${demanded} is set, so every real part must be there; missing: ${names} (how to get them: above)`,
  );
}

function isSet(value: string | undefined): boolean {
  return !['', '0', 'false'].includes((value ?? '').toLowerCase());
}

type Program = readonly [name: string, versionArguments: readonly string[], finding: Finding];

function programs(found: FoundParts): readonly Program[] {
  const { postgresBinaries } = found;
  const postgres = postgresBinaries.found
    ? { found: true as const, path: `${postgresBinaries.path}/postgres` }
    : postgresBinaries;
  return [
    ['PostgreSQL', ['--version'], postgres],
    ['pg_dump', ['--version'], found.pgDump],
    ['etcd', ['--version'], found.etcd],
    ['kube-apiserver', ['--version'], found.kubeApiserver],
    ['kubectl', ['version', '--client'], found.kubectl],
  ];
}

async function report(found: FoundParts, env: Environment): Promise<readonly string[]> {
  const lines = await Promise.all(programs(found).map((program) => reportLine(program, env)));
  if (!found.postgresServer.found) return lines;
  const { host, pathname } = new URL(found.postgresServer.url);
  return [
    ...lines,
    `real part PostgreSQL server: used as DATABASE_URL names it, ${host}${pathname}`,
  ];
}

async function reportLine([name, args, finding]: Program, env: Environment): Promise<string> {
  if (!finding.found)
    return `real part ${name}: NOT FOUND, tests that need it are skipped; to get it, ${finding.howToGet}`;
  return `real part ${name}: ${await versionOf(finding.path, args)}, ${shortened(finding.path, env)}`;
}

async function versionOf(path: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(path, args);
  return /\d+\.\d[\d.]*/.exec(stdout)?.[0] ?? 'unknown version';
}
