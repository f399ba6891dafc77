// Sees to it that the broker ends with the demo, however that ends: a small shell process waits for the end of our pipe
// to it, which comes with kill -9 too, and then kills the process group that was named to it. So a `npm start` after
// it finds the data folder free.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';

export interface Guard {
  /** From now on the group ends with us. */
  watch(groupId: number): void;
  /** The group has ended by itself: its id may soon be another's. */
  dismiss(): void;
}

/** Signals of a terminal are meant for the demo, which then ends the broker in order. */
const SCRIPT = `
  trap '' INT TERM HUP
  while read -r group; do groups="$groups $group"; done
  for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
`;

export function startGuard(): Guard {
  const shell = spawn('/bin/sh', ['-c', SCRIPT], {
    cwd: '/',
    // A group of its own: who kills all of ours at once leaves it its work.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  letGo(shell);
  return {
    watch: (groupId) => void shell.stdin.write(`${groupId}\n`),
    dismiss: () => void shell.kill('SIGKILL'),
  };
}

/** A guard must not keep its own process alive, nor fail it. */
function letGo(shell: ChildProcessByStdio<Writable, null, null>): void {
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  shell.stdin.on('error', () => undefined);
}
