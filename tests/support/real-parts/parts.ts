// The three real parts that are built from Go modules, and where a build lies: one table for the build, the search and
// the version that both expect. Versions are read from the go.mod files, so that they are written down once.

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type BuiltPartName = 'etcd' | 'kube-apiserver' | 'kubectl';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface BuiltPart {
  readonly name: BuiltPartName;
  /** Folder of the Go module that names the part as a tool. */
  readonly moduleFolder: string;
  readonly goPackage: string;
  /** Without a leading `v`, for instance `1.36.3`. */
  readonly version: string;
  /** Folder below the cache folder, for instance `kubernetes-1.36.3`. */
  readonly cacheFolderName: string;
  /** How long the build usually takes on two cores with nothing downloaded, in seconds. */
  readonly usualSeconds: number;
}

const CLUSTER_TESTS_FOLDER = fileURLToPath(new URL('../../cluster/', import.meta.url));

/** Measured on two cores, downloads included; kubectl comes after kube-apiserver and shares most of its packages. */
const USUAL_SECONDS = { etcd: 60, 'kube-apiserver': 300, kubectl: 40 } as const;

/** In the order in which they are built. */
export function builtParts(): readonly BuiltPart[] {
  const etcdModule = join(CLUSTER_TESTS_FOLDER, 'etcd');
  const kubeModule = join(CLUSTER_TESTS_FOLDER, 'kube');
  const etcdVersion = requiredVersion(etcdModule, 'go.etcd.io/etcd/server/v3');
  const kubeVersion = requiredVersion(kubeModule, 'k8s.io/kubernetes');
  const kubePart = (name: 'kube-apiserver' | 'kubectl'): BuiltPart => ({
    name,
    moduleFolder: kubeModule,
    goPackage: `k8s.io/kubernetes/cmd/${name}`,
    version: kubeVersion,
    cacheFolderName: `kubernetes-${kubeVersion}`,
    usualSeconds: USUAL_SECONDS[name],
  });
  return [
    {
      name: 'etcd',
      moduleFolder: etcdModule,
      goPackage: 'go.etcd.io/etcd/server/v3',
      version: etcdVersion,
      cacheFolderName: `etcd-${etcdVersion}`,
      usualSeconds: USUAL_SECONDS.etcd,
    },
    kubePart('kube-apiserver'),
    kubePart('kubectl'),
  ];
}

/** `${XDG_CACHE_HOME:-~/.cache}/runtime-broker`; an empty or relative XDG_CACHE_HOME counts as unset (XDG base directories). */
export function cacheFolder(env: Environment): string {
  const xdg = env['XDG_CACHE_HOME'] ?? '';
  return join(
    xdg.startsWith('/') ? xdg : join(env['HOME'] ?? homedir(), '.cache'),
    'runtime-broker',
  );
}

export function builtPath(part: BuiltPart, cache: string): string {
  return join(cache, part.cacheFolderName, part.name);
}

/** A path as people write it: `~` for the home folder. */
export function shortened(path: string, env: Environment): string {
  const home = env['HOME'] ?? homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** The lowest Go that may build a module, from its `go` line, for instance `1.26.0`. */
export function requiredGo(moduleFolder: string): string {
  return firstGroup(goModOf(moduleFolder), /^go (\S+)$/m, `${moduleFolder}/go.mod has no go line`);
}

function requiredVersion(moduleFolder: string, module: string): string {
  const line = new RegExp(`^\\s*${module.replaceAll('.', '\\.')} v(\\S+)`, 'm');
  return firstGroup(
    goModOf(moduleFolder),
    line,
    `${moduleFolder}/go.mod does not require ${module}`,
  );
}

function goModOf(moduleFolder: string): string {
  return readFileSync(join(moduleFolder, 'go.mod'), 'utf8');
}

function firstGroup(text: string, pattern: RegExp, otherwise: string): string {
  const group = pattern.exec(text)?.[1];
  if (group === undefined) throw new Error(otherwise);
  return group;
}
