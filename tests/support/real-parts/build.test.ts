// `npm run real-parts` with a stand-in for Go: what it builds, what it leaves alone, what it leaves behind when it fails.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../until.ts';

const SCRIPT = fileURLToPath(new URL('./build.ts', import.meta.url));

/** Answers `go version`, and writes its own environment and arguments where a build would write the program. */
const GO = `#!/bin/sh
if [ "$1" = version ]; then echo "go version go1.26.8 linux/amd64"; exit; fi
out=
last=
for word; do [ "$last" = -o ] && out="$word"; last="$word"; done
echo "CGO_ENABLED=$CGO_ENABLED GOFLAGS=$GOFLAGS $*" > "$out"
`;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'build-parts-'));
  mkdirSync(join(root, 'bin'));
});
afterEach(() => rmSync(root, { recursive: true }));

function writeGo(script: string): void {
  writeFileSync(join(root, 'bin', 'go'), script);
  chmodSync(join(root, 'bin', 'go'), 0o755);
}

function startBuild() {
  const env = { PATH: join(root, 'bin'), HOME: root, GOFLAGS: '-mod=mod' };
  return spawn(process.execPath, [SCRIPT], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function build() {
  const child = startBuild();
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { status: child.exitCode, stdout, stderr };
}

const cached = (name: string) => join(root, '.cache', 'runtime-broker', name);

describe('with Go', () => {
  it('builds each part once, and says on the second run that it is there', async () => {
    writeGo(GO);
    const first = await build();
    expect(first).toMatchObject({ status: 0, stderr: '' });
    const built = first.stdout.split('\n').filter((line) => line.includes('built in'));
    expect(built.map((line) => line.replace(/built in \d+ s/, 'built in a while'))).toEqual([
      'etcd 3.6.16: built in a while, ~/.cache/runtime-broker/etcd-3.6.16/etcd',
      'kube-apiserver 1.36.3: built in a while, ~/.cache/runtime-broker/kubernetes-1.36.3/kube-apiserver',
      'kubectl 1.36.3: built in a while, ~/.cache/runtime-broker/kubernetes-1.36.3/kubectl',
    ]);
    writeGo('#!/bin/sh\necho must not be called >&2\nexit 1\n');
    expect(await build()).toEqual({
      status: 0,
      stderr: '',
      stdout: `etcd 3.6.16: built already, ~/.cache/runtime-broker/etcd-3.6.16/etcd
kube-apiserver 1.36.3: built already, ~/.cache/runtime-broker/kubernetes-1.36.3/kube-apiserver
kubectl 1.36.3: built already, ~/.cache/runtime-broker/kubernetes-1.36.3/kubectl
`,
    });
  });

  it('builds from the modules as they are locked, without C, and stamps the version of Kubernetes', async () => {
    writeGo(GO);
    await build();
    const call = readFileSync(cached('kubernetes-1.36.3/kube-apiserver'), 'utf8');
    expect(call).toContain('CGO_ENABLED=0 GOFLAGS=-mod=readonly build -trimpath');
    expect(call).toContain('-X k8s.io/component-base/version.gitVersion=v1.36.3 ');
    expect(call).toContain('-X k8s.io/component-base/version.gitMajor=1 ');
    expect(call).toContain('-X k8s.io/component-base/version.gitMinor=36 ');
    expect(call.trimEnd()).toMatch(/k8s\.io\/kubernetes\/cmd\/kube-apiserver$/);
  });

  it('shows what Go said when a build fails, and leaves nothing', async () => {
    writeGo(GO.replace('out=\n', 'echo no space left >&2; exit 3\n'));
    const result = await build();
    expect(result.status).toBe(1);
    expect(result.stderr).toBe('go build of etcd failed:\nno space left\n\n');
    expect(readdirSync(cached(''))).toEqual([]);
  });

  it('leaves nothing when it is broken off', async () => {
    writeGo(GO.replace('out=\n', `echo > ${join(root, 'begun')}; while :; do :; done\n`));
    const child = startBuild();
    const stderr = text(child.stderr);
    await until({
      what: 'the build has begun',
      limitMs: 10_000,
      isSo: () => existsSync(join(root, 'begun')),
    });
    child.kill('SIGTERM');
    await once(child, 'close');
    expect(child.exitCode).toBe(1);
    expect(await stderr).toBe('broken off by SIGTERM\n');
    expect(readdirSync(cached(''))).toEqual([]);
  });

  it('removes what a killed build left, and leaves alone what a running one uses', async () => {
    writeGo(GO);
    const dead = spawn(process.execPath, ['--version']);
    await once(dead, 'close');
    mkdirSync(cached(`.building-${dead.pid}-abc`), { recursive: true });
    mkdirSync(cached(`.building-${process.pid}-abc`), { recursive: true });
    await build();
    expect(readdirSync(cached(''))).toEqual([
      `.building-${process.pid}-abc`,
      'etcd-3.6.16',
      'kubernetes-1.36.3',
    ]);
  });
});

describe('without a Go that can build', () => {
  it('says in one sentence that there is none', async () => {
    expect(await build()).toMatchObject({
      status: 1,
      stderr:
        'Go is needed to build the real parts, and there is no program `go` on the PATH: install Go 1.26.0 or newer (https://go.dev/doc/install), then run `npm run real-parts` again\n',
    });
  });

  it('says in one sentence that it is too old', async () => {
    writeGo(GO.replace('go1.26.8', 'go1.9.7'));
    expect(await build()).toMatchObject({
      status: 1,
      stderr:
        'Go 1.26.0 is needed to build the real parts, and this machine has Go 1.9.7: install Go 1.26.0 or newer (https://go.dev/doc/install), then run `npm run real-parts` again\n',
    });
  });
});
