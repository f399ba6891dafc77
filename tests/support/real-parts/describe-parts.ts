// Says in a line each which real parts a run has, and whether it may go on without the others.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Finding, FoundParts } from './find.ts';
import { type Environment, shortened } from './parts.ts';

/** Asks each program for its version, all at once. */
export async function describeParts(
  found: FoundParts,
  env: Environment,
): Promise<readonly string[]> {
  const lines = await Promise.all(programs(found).map((program) => describeProgram(program, env)));
  if (!found.postgresServer.found) return lines;
  // Without the user and the password that may be in it.
  const { host, pathname } = new URL(found.postgresServer.url);
  return [...lines, `real part PostgreSQL server: as DATABASE_URL names it, ${host}${pathname}`];
}

/** Why the run must not begin; null when it may. In CI, and where a person asks for it, a skip would hide what was not tested. */
export function refusalOf(found: FoundParts, env: Environment): string | null {
  const demand = ['CI', 'REQUIRE_REAL'].find((name) => isSet(env[name]));
  if (demand === undefined) return null;
  const missing = programs(found).flatMap(({ name, finding }) =>
    finding.found ? [] : [`${name}: ${finding.howToGet}`],
  );
  if (missing.length === 0) return null;
  return [`${demand} is set, so no real part may be missing. Missing:`, ...missing].join('\n  ');
}

/** Some systems set CI to say that it is not one. */
function isSet(value: string | undefined): boolean {
  return !['', '0', 'false'].includes((value ?? '').toLowerCase());
}

interface Program {
  readonly name: string;
  readonly finding: Finding;
  readonly versionArguments: readonly string[];
}

function programs(found: FoundParts): readonly Program[] {
  const { postgresBinaries: folder } = found;
  const postgres = folder.found ? { ...folder, path: join(folder.path, 'postgres') } : folder;
  const versionArguments = ['--version'];
  return [
    { name: 'PostgreSQL', finding: postgres, versionArguments },
    { name: 'pg_dump', finding: found.pgDump, versionArguments },
    { name: 'etcd', finding: found.etcd, versionArguments },
    { name: 'kube-apiserver', finding: found.kubeApiserver, versionArguments },
    { name: 'kubectl', finding: found.kubectl, versionArguments: ['version', '--client'] },
  ];
}

async function describeProgram(program: Program, env: Environment): Promise<string> {
  const { name, finding } = program;
  if (!finding.found) {
    return `real part ${name}: NOT FOUND, tests that need it are skipped; to get it, ${finding.howToGet}`;
  }
  const version = await versionOf(finding.path, program.versionArguments);
  return `real part ${name}: ${version}, ${shortened(finding.path, env)}`;
}

async function versionOf(path: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(path, args);
  return /\d+\.\d[\d.]*/.exec(stdout)?.[0] ?? 'unknown version';
}
