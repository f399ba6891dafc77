// A real part as a running process: own process group, output in a file, ended as a group. Knows nothing of what runs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EndSignal, GuardedFolder } from './guarded-folder.ts';

export interface ProcessOwner {
  readonly uid: number;
  readonly gid: number;
}

export interface ProcessToStart {
  /** Names the log file in the folder. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: GuardedFolder;
  readonly endSignal: EndSignal;
  /** Only root can give its children to another user. */
  readonly owner?: ProcessOwner;
}

export interface StartedProcess {
  readonly logFile: string;
  hasExited(): boolean;
  /** Ends the whole group and waits for the process; does nothing when it has ended already. */
  end(): Promise<void>;
  /** The end of the log, for error messages. */
  logTail(): string;
}

/** Enough for the cause that a server names before it gives up, and still readable in a test report. */
const LOG_TAIL_CHARACTERS = 3_000;

export function startProcess(start: ProcessToStart): StartedProcess {
  const logFile = join(start.folder.path, `${start.name}.log`);
  const log = openSync(logFile, 'a');
  const child = spawn(start.command, start.args, {
    cwd: start.folder.path,
    detached: true,
    // Settings of the person who runs the tests (PGPORT, ETCD_NAME, proxies) must not reach the part.
    env: { PATH: process.env['PATH'], HOME: start.folder.path, LANG: 'C.UTF-8' },
    stdio: ['ignore', log, log],
    ...(start.owner === undefined ? {} : start.owner),
  });
  closeSync(log);
  const groupId = child.pid;
  let spawnFault: Error | null = null;
  child.on('error', (fault) => {
    spawnFault = fault;
  });
  const leave =
    groupId === undefined ? () => undefined : start.folder.enroll(groupId, start.endSignal);
  child.on('exit', leave);
  const hasExited = () =>
    spawnFault !== null || child.exitCode !== null || child.signalCode !== null;
  return {
    logFile,
    hasExited,
    async end() {
      if (groupId === undefined || hasExited()) return;
      const exit = once(child, 'exit');
      signalGroup(groupId, start.endSignal);
      await exit;
    },
    logTail: () => spawnFault?.message ?? readFileSync(logFile, 'utf8').slice(-LOG_TAIL_CHARACTERS),
  };
}

function signalGroup(groupId: number, signal: EndSignal): void {
  try {
    process.kill(-groupId, signal);
  } catch (fault) {
    // ESRCH: it ended by itself a moment ago, and we are about to be told.
    if (!(fault instanceof Error && 'code' in fault && fault.code === 'ESRCH')) throw fault;
  }
}
