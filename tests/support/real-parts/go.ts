// The Go toolchain as the build of the real parts uses it: whether it is there and new enough, and one build.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { type BuiltPart, type Environment, requiredGo } from './parts.ts';

/** Numbered parts of a version are compared as numbers: 1.9 is older than 1.26. */
const byNumbers = new Intl.Collator('en', { numeric: true });

/** A sentence that says why this machine's Go cannot build the part; null when it can. */
export async function goFault(part: BuiltPart, env: Environment): Promise<string | null> {
  const needed = requiredGo(part.moduleFolder);
  const get = `install Go ${needed} or newer (https://go.dev/doc/install), then run \`npm run real-parts\` again`;
  const version = await goVersion(env);
  if (version === null) {
    return `Go is needed to build the real parts, and there is no program \`go\` on the PATH: ${get}`;
  }
  if (byNumbers.compare(version, needed) >= 0) return null;
  return `Go ${needed} is needed to build the real parts, and this machine has Go ${version}: ${get}`;
}

/** For instance `1.26.8`; null without Go. */
async function goVersion(env: Environment): Promise<string | null> {
  try {
    // Outside any module, so that no go.mod chooses another toolchain for the answer.
    const options = { cwd: tmpdir(), env: goEnvironment(env) };
    const { stdout } = await promisify(execFile)('go', ['version'], options);
    return /go(\d+(?:\.\d+)*)/.exec(stdout)?.[1] ?? '0';
  } catch {
    return null;
  }
}

export interface GoBuild {
  readonly part: BuiltPart;
  /** Path of the program that is written. */
  readonly output: string;
  readonly env: Environment;
  readonly signal: AbortSignal;
}

/** Throws an error with the compiler's output; leaves nothing at `output` then. */
export async function goBuild({ part, output, env, signal }: GoBuild): Promise<void> {
  const args = [
    'build',
    '-trimpath',
    '-buildvcs=false',
    '-ldflags',
    linkerFlags(part),
    '-o',
    output,
    part.goPackage,
  ];
  const child = spawn('go', args, {
    cwd: part.moduleFolder,
    env: goEnvironment(env),
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
    // Go removes its temporary files on this one only.
    killSignal: 'SIGINT',
  });
  const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`go build of ${part.name} failed:\n${stderr}`);
}

/** Settings of the person's Go that change what is built are replaced; those that say where to download stay. */
function goEnvironment(env: Environment): Environment {
  return {
    ...env,
    CGO_ENABLED: '0',
    GOFLAGS: '-mod=readonly',
    GOTOOLCHAIN: 'local',
    GOWORK: 'off',
  };
}

/** `-s -w` leaves out what debuggers need. etcd carries its version in its source; Kubernetes is told. */
function linkerFlags({ name, version }: BuiltPart): string {
  if (name === 'etcd') return '-s -w';
  const [major, minor] = version.split('.');
  const stamps = {
    gitVersion: `v${version}`,
    gitMajor: major,
    gitMinor: minor,
    gitTreeState: 'clean',
  };
  const flags = Object.entries(stamps).map(
    ([variable, value]) => `-X k8s.io/component-base/version.${variable}=${value}`,
  );
  return ['-s -w', ...flags].join(' ');
}
