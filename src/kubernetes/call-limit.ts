// One signal for a call: it fires when the caller's does, or when the call's time is over, and tells which it was.
// AbortSignal.any and AbortSignal.timeout would leave a timer behind for each call that ends in time.

import type { EndedBy } from './failures.ts';

export class CallLimit {
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #callerSignal: AbortSignal | undefined;
  #endedBy: EndedBy;

  constructor(totalMs: number, callerSignal?: AbortSignal) {
    this.#callerSignal = callerSignal;
    this.#timer = setTimeout(() => this.#end('limit'), totalMs);
    if (callerSignal?.aborted === true) this.#onCaller();
    callerSignal?.addEventListener('abort', this.#onCaller, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Undefined as long as our side has not ended the call. */
  get endedBy(): EndedBy {
    return this.#endedBy;
  }

  /** To be called when the call is over. */
  release(): void {
    clearTimeout(this.#timer);
    this.#callerSignal?.removeEventListener('abort', this.#onCaller);
  }

  readonly #onCaller = (): void => this.#end('caller');

  #end(by: EndedBy): void {
    this.#endedBy ??= by;
    this.#abort.abort();
  }
}
