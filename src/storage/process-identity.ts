// Who a process is, beyond an id that is given again: its machine, boot and container, and when it was started. By
// that, one that is named in a file is known to be alive or dead, where it can be looked up from here at all.
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** The same for two processes exactly if one can look the other up by its id. */
  readonly place: string;
  /** When it was started, as its system counts; undefined where the system does not tell. */
  readonly startMark: string | undefined;
}

export function thisProcess(): ProcessIdentity {
  const { pid } = process;
  return { pid, host: hostname(), place: placeOf(), startMark: startMarkOf(pid) };
}

/** `unknown`: of another place, or an id that is in use without a way to tell by whom. */
export function lifeOf(other: ProcessIdentity): 'alive' | 'dead' | 'unknown' {
  if (other.place !== placeOf()) {
    return 'unknown';
  }
  if (!isInUse(other.pid) || isZombie(other.pid)) {
    return 'dead';
  }
  const found = startMarkOf(other.pid);
  if (found === undefined || other.startMark === undefined) {
    return 'unknown';
  }
  return found === other.startMark ? 'alive' : 'dead';
}

/** Machine, boot and process namespace: after a reboot, and in each container, ids count anew. */
function placeOf(): string {
  const boot = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const namespace = attempt(() => readlinkSync('/proc/self/ns/pid'));
  return [hostname(), boot ?? '', namespace ?? ''].join(' ');
}

function isInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Clock ticks from boot to the process's start, of which there are a hundred a second (proc(5), stat, field 22). */
function startMarkOf(pid: number): string | undefined {
  return statOf(pid)?.at(22 - 3);
}

/** Ended, and kept only until its parent asks how. */
function isZombie(pid: number): boolean {
  return statOf(pid)?.at(0) === 'Z';
}

/** The fields from the third on, the state: the second, the program's name, may hold spaces and brackets. */
function statOf(pid: number): readonly string[] | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
