// Which PostgreSQL, Kubernetes API server and kubectl the demo will use, told in a line each; for one that is missing,
// what to do. Starting them is left to servers.ts.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Finding,
  type FoundParts,
  findParts,
  thisMachine,
} from '../tests/support/real-parts/find.ts';
import { shortened } from '../tests/support/real-parts/parts.ts';
import { DemoFailure } from './demo-failure.ts';
import type { Environment } from './environment.ts';
import type { Narration } from './narration.ts';

export type DatabasePart =
  | { readonly kind: 'server'; readonly url: string }
  | { readonly kind: 'programs'; readonly folder: string };

export type ClusterPart =
  | { readonly kind: 'programs'; readonly etcd: string; readonly kubeApiserver: string }
  | { readonly kind: 'attached'; readonly kubeconfigFile: string };

export interface RealParts {
  readonly database: DatabasePart;
  readonly cluster: ClusterPart;
  /** Path of the program. */
  readonly kubectl: string;
}

export interface Wanted {
  readonly env: Environment;
  /** Instead of an API server of the demo's own. */
  readonly kubeconfigFile: string | undefined;
}

/** Tells of all of them before it fails for one. */
export async function findRealParts(wanted: Wanted, narration: Narration): Promise<RealParts> {
  const found = findParts(thisMachine(wanted.env));
  const programs = programsOf(found, wanted);
  tellServers(found, wanted, narration);
  for (const program of programs) await tell(program, wanted.env, narration);
  const missing = programs.filter(({ finding }) => !finding.found).map(({ name }) => name);
  if (missing.length > 0) {
    throw new DemoFailure(`Nothing was started: the demo needs ${LIST.format(missing)}.`);
  }
  const { kubeconfigFile } = wanted;
  return {
    database: found.postgresServer.found
      ? { kind: 'server', url: found.postgresServer.url }
      : { kind: 'programs', folder: pathOf(found.postgresBinaries) },
    cluster:
      kubeconfigFile === undefined
        ? { kind: 'programs', etcd: pathOf(found.etcd), kubeApiserver: pathOf(found.kubeApiserver) }
        : { kind: 'attached', kubeconfigFile },
    kubectl: pathOf(found.kubectl),
  };
}

const LIST = new Intl.ListFormat('en');

interface Program {
  readonly name: string;
  readonly finding: Finding;
  /** What the finding's path is asked for its version with; PostgreSQL's path is a folder. */
  readonly versionCommand: (path: string) => readonly [string, ...string[]];
  /** What else helps where it is missing. */
  readonly otherwise: string;
}

function programsOf(found: FoundParts, { kubeconfigFile }: Wanted): readonly Program[] {
  const postgres: Program = {
    name: 'PostgreSQL',
    finding: found.postgresBinaries,
    versionCommand: (path) => [join(path, 'postgres'), '--version'],
    otherwise: 'or set DATABASE_URL to a PostgreSQL whose user may create databases',
  };
  const ofCluster = (name: string, finding: Finding): Program => ({
    name,
    finding,
    versionCommand: (path) => [path, '--version'],
    otherwise: 'or use a cluster that you have: npm run demo -- --kubeconfig FILE',
  });
  const kubectl: Program = {
    name: 'kubectl',
    finding: found.kubectl,
    versionCommand: (path) => [path, 'version', '--client'],
    otherwise: 'or install it (https://kubernetes.io/docs/tasks/tools)',
  };
  return [
    ...(found.postgresServer.found ? [] : [postgres]),
    ...(kubeconfigFile === undefined
      ? [ofCluster('kube-apiserver', found.kubeApiserver), ofCluster('etcd', found.etcd)]
      : []),
    kubectl,
  ];
}

/** What runs already is not asked for anything yet. */
function tellServers(found: FoundParts, wanted: Wanted, narration: Narration): void {
  const { postgresServer } = found;
  const { kubeconfigFile, env } = wanted;
  if (postgresServer.found) {
    narration.found('PostgreSQL', `at ${placeOf(postgresServer.url)}, from DATABASE_URL`);
  }
  if (kubeconfigFile !== undefined) {
    narration.found('cluster', `the current context of ${shortened(kubeconfigFile, env)}`);
  }
}

async function tell(program: Program, env: Environment, narration: Narration): Promise<void> {
  const { name, finding, versionCommand, otherwise } = program;
  if (!finding.found) {
    narration.missing(name, ['not found', `${finding.howToGet},`, otherwise]);
    return;
  }
  const [command, ...args] = versionCommand(finding.path);
  const version = await versionOf(command, args);
  narration.found(name, `${version.padEnd(8)} ${shortened(finding.path, env)}`);
}

async function versionOf(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args);
  return /\d+\.\d[\d.]*/.exec(stdout)?.[0] ?? '';
}

function pathOf(finding: Finding): string {
  if (!finding.found) throw new Error(`used although it was not found: ${finding.howToGet}`);
  return finding.path;
}

/** Without the user and the password that may be in it. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) {
    throw new DemoFailure(
      'DATABASE_URL is not the URL of a PostgreSQL, such as postgres://user@host/database.',
    );
  }
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
