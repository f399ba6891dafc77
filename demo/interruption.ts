// Ctrl-C and its like, and the end of whoever started us. The first one stops the demo in order; one that comes later
// ends it at once, and the guard of the broker (guard.ts) ends that.

import type { Environment } from './environment.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export type Signal = (typeof SIGNALS)[number] | 'SIGPIPE';

/** What shells report for a process that a signal ended is 128 and the signal's number (POSIX). */
const EXIT_STATUS: Readonly<Record<Signal, number>> = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGPIPE: 141,
  SIGTERM: 143,
};

/** npm passes on the signal that the terminal sends to both, so one press of Ctrl-C may arrive twice. */
const SAME_PRESS_MS = 500;

/** Whoever ended npm may start the broker anew right away: it takes longer to start than we then take to end. */
const PARENT_LOOK_MS = 100;

export class Interrupted extends Error {
  readonly signalName: Signal;

  constructor(signalName: Signal) {
    super(`Interrupted (${signalName}).`);
    this.name = 'Interrupted';
    this.signalName = signalName;
  }

  get exitStatus(): number {
    return EXIT_STATUS[this.signalName];
  }
}

/** @returns a signal that fires at the first of them, with an Interrupted as its reason */
export function listenForInterruption(env: Environment): AbortSignal {
  const interruption = new AbortController();
  let firstAt: number | undefined;
  const hear = (name: Signal) => {
    const now = performance.now();
    firstAt ??= now;
    interruption.abort(new Interrupted(name));
    if (now - firstAt < SAME_PRESS_MS) return;
    for (const each of SIGNALS) process.removeAllListeners(each);
    process.kill(process.pid, name === 'SIGPIPE' ? 'SIGTERM' : name);
  };
  for (const name of SIGNALS) process.on(name, () => hear(name));
  // Nobody reads any more (`npm run demo | head`): Node reports a write that fails instead of the signal.
  process.stdout.on('error', () => interruption.abort(new Interrupted('SIGPIPE')));
  if (env['npm_lifecycle_event'] !== undefined) {
    whenParentEnds(() => interruption.abort(new Interrupted('SIGTERM')));
  }
  return interruption.signal;
}

/** npm may be killed, and tells nobody then; we have another parent from then on. */
function whenParentEnds(act: () => void): void {
  const parent = process.ppid;
  const looking = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(looking);
    act();
  }, PARENT_LOOK_MS);
  looking.unref();
}
