// The broker as its own process on the embedded default, exactly as `npm start` runs it: same program, same data
// folder, same listeners, same settings of the person, except that DATABASE_URL is left out.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BrokerLog } from './broker-log.ts';
import { REPOSITORY } from './data-folder.ts';
import { DemoFailure } from './demo-failure.ts';
import type { Environment } from './environment.ts';
import { startGuard } from './guard.ts';
import type { Started } from './unwinding.ts';

export interface BrokerProcess {
  readonly publicUrl: string;
  readonly log: BrokerLog;
  /** Settles when it has ended, whoever ended it. */
  readonly ended: Promise<void>;
  /** Its status or the signal that killed it; undefined while it runs. */
  howEnded(): string | undefined;
}

const MAIN = join(REPOSITORY, 'src/app/main.ts');

/** Usual: two seconds, of which the database takes one; a machine under full load has been seen to take ten times that. */
const READY_LIMIT_MS = 60_000;

/** More than the broker itself gives what it is serving. */
const STOP_LIMIT_MS = 30_000;

/** Returns once it serves requests. Undone, it finishes what it is serving, within limits. */
export async function startBroker(
  env: Environment,
  interruption: AbortSignal,
): Promise<Started<BrokerProcess>> {
  const guard = startGuard();
  const child = spawn(process.execPath, [MAIN], {
    cwd: REPOSITORY,
    env: environmentOf(env),
    // A group of its own: Ctrl-C is for us, who end it when its turn has come.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) guard.watch(child.pid);
  const log = new BrokerLog([child.stdout, child.stderr]);
  const ended = once(child, 'close').then(() => {
    guard.dismiss();
    log.close();
  });
  const stop = () => stopChild(child, ended);
  try {
    const { publicUrl } = await untilReady({ log, ended, interruption });
    return {
      what: { publicUrl, log, ended, howEnded: () => endOf(child) },
      undo: { title: 'Stop the broker', run: stop },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function environmentOf(env: Environment): NodeJS.ProcessEnv {
  return {
    ...env,
    // Empty counts as absent. A ledger that is in use is no place for a demo, and has no plan sandbox.
    DATABASE_URL: '',
    DATABASE_URL_FILE: '',
    // As the demo reads it.
    RUNTIME_BROKER_LOG_FORMAT: 'json',
    RUNTIME_BROKER_LOG_LEVEL: 'info',
  };
}

interface Starting {
  readonly log: BrokerLog;
  readonly ended: Promise<void>;
  readonly interruption: AbortSignal;
}

async function untilReady({ log, ended, interruption }: Starting) {
  const waiting = new AbortController();
  const signal = AbortSignal.any([waiting.signal, interruption]);
  const late = pause(READY_LIMIT_MS, undefined, { signal }).catch(() => undefined);
  const facts = await Promise.race([log.ready, ended.then(() => undefined), late]);
  waiting.abort();
  interruption.throwIfAborted();
  if (facts === undefined) {
    throw new DemoFailure('The broker did not start. It says:', log.lastWords());
  }
  return facts;
}

function endOf({ exitCode, signalCode }: ChildProcess): string | undefined {
  return signalCode ?? (exitCode === null ? undefined : `status ${exitCode}`);
}

async function stopChild(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGTERM');
  const limit = new AbortController();
  const late = pause(STOP_LIMIT_MS, 'late' as const, { signal: limit.signal }).catch(
    () => 'aborted',
  );
  const first = await Promise.race([ended, late]);
  limit.abort();
  if (first === 'late') {
    child.kill('SIGKILL');
    await ended;
    throw new DemoFailure('The broker did not stop in order; it was killed.');
  }
}
