// `npm run real-parts`: builds etcd, kube-apiserver and kubectl with Go from the modules in tests/cluster into the
// user's cache folder, where tests and the demo look. What is there already is left alone. Needs no package but Node.

import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { goBuild, goFault } from './go.ts';
import { type BuiltPart, builtParts, builtPath, cacheFolder, shortened } from './parts.ts';

/** Often enough to show that it lives, seldom enough to keep a log of CI short. */
const PROGRESS_EVERY_MS = 20_000;

const BUILDING_PREFIX = '.building-';

const env = process.env;
const cache = cacheFolder(env);

async function buildMissingParts(): Promise<void> {
  const missing: BuiltPart[] = [];
  for (const part of builtParts()) {
    if (await exists(builtPath(part, cache))) say(`${title(part)}: built already, ${place(part)}`);
    else missing.push(part);
  }
  const [first] = missing;
  if (first === undefined) return;
  const fault = await goFault(first, env);
  if (fault !== null) throw new Error(fault);
  await mkdir(cache, { recursive: true });
  await removeLeftovers();
  for (const part of missing) await build(part);
}

/** Into a folder of its own, then moved: a build that is broken off leaves nothing where others look. */
async function build(part: BuiltPart): Promise<void> {
  const usual = duration(part.usualSeconds * 1_000);
  say(`${title(part)}: building with Go (about ${usual} on two cores, the first time) …`);
  const startedAt = performance.now();
  const elapsed = () => duration(performance.now() - startedAt);
  const progress = setInterval(
    () => say(`${title(part)}: building, ${elapsed()} so far`),
    PROGRESS_EVERY_MS,
  );
  const folder = await mkdtemp(join(cache, `${BUILDING_PREFIX}${process.pid}-`));
  try {
    const output = join(folder, part.name);
    await goBuild({ part, output, env, signal: interrupted.signal });
    await mkdir(dirname(builtPath(part, cache)), { recursive: true });
    await rename(output, builtPath(part, cache));
  } finally {
    clearInterval(progress);
    await rm(folder, { recursive: true, force: true });
  }
  say(`${title(part)}: built in ${elapsed()}, ${place(part)}`);
}

/** Folders of builds that were killed: those whose process is no more. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(cache)) {
    const pid = new RegExp(`^\\${BUILDING_PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || lives(Number(pid))) continue;
    await rm(join(cache, name), { recursive: true, force: true });
  }
}

function lives(pid: number): boolean {
  try {
    // Signal 0 asks only.
    return process.kill(pid, 0);
  } catch (fault) {
    // EPERM: it lives, as another user's.
    return fault instanceof Error && 'code' in fault && fault.code === 'EPERM';
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

function title(part: BuiltPart): string {
  return `${part.name} ${part.version}`;
}

function place(part: BuiltPart): string {
  return shortened(builtPath(part, cache), env);
}

/** For people: `45 s`, `4 min 05 s`. */
function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

function say(line: string): void {
  console.log(line);
}

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interrupted.abort(new Error(`broken off by ${signal}`)));
}

try {
  await buildMissingParts();
} catch (fault) {
  // An abort hides its reason in an error of its own.
  const cause: unknown = interrupted.signal.aborted ? interrupted.signal.reason : fault;
  console.error(cause instanceof Error ? cause.message : cause);
  process.exitCode = 1;
}
