// A temporary folder whose processes cannot outlive this one: a small shell process waits for the end of our pipe to it,
// which comes however we end (return, Ctrl-C, SIGKILL), then ends the process groups that are enrolled and removes the folder.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** PostgreSQL gets QUIT, its immediate shutdown: after KILL its shared memory would stay behind. */
export type EndSignal = 'SIGKILL' | 'SIGQUIT';

export interface GuardedFolder {
  readonly path: string;
  /** From now on the group is ended with us; returns what to call when it ended by itself. */
  enroll(groupId: number, endSignal: EndSignal): () => void;
  /** Removes the folder at once. Processes must have been ended before. */
  remove(): void;
}

/** `groups/<group id>` holds the signal that ends the group; a group that ignores it for 5 s is killed. */
const GUARD_SCRIPT = `
  trap '' INT TERM HUP
  while read -r _; do :; done
  for entry in "$1"/groups/*; do
    [ -e "$entry" ] && kill -s "$(cat "$entry")" -- "-\${entry##*/}" 2>/dev/null
  done
  for entry in "$1"/groups/*; do
    [ -e "$entry" ] || continue
    group="\${entry##*/}"
    tries=0
    while kill -s 0 -- "-$group" 2>/dev/null && [ "$tries" -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
    kill -s KILL -- "-$group" 2>/dev/null
  done
  rm -rf "$1"
`;

export function openGuardedFolder(name: string): GuardedFolder {
  const path = mkdtempSync(join(tmpdir(), `runtime-broker-${name}-`));
  const groups = join(path, 'groups');
  mkdirSync(groups);
  const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT, 'guard', path], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  letGoOf(guard);
  return {
    path,
    enroll(groupId, endSignal) {
      const entry = join(groups, String(groupId));
      writeFileSync(entry, endSignal.slice('SIG'.length));
      return () => rmSync(entry, { force: true });
    },
    remove() {
      guard.kill('SIGKILL');
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** A guard must not keep its own process alive. */
function letGoOf(guard: ChildProcess): void {
  guard.unref();
  const pipe = guard.stdin;
  if (pipe instanceof Socket) pipe.unref();
  // The pipe breaks when the guard is killed from outside; then it guards no more, which is no fault of a test.
  pipe?.on('error', () => undefined);
}
