// One call whose outcome several callers wait for, each for as long as its own signal allows.

import { UpstreamError } from '../domain/errors.ts';

export class SharedCall<T> {
  readonly #action: string;
  readonly #outcome: Promise<T>;
  readonly #abandon = new AbortController();
  #waiting = 0;
  #isSettled = false;

  /** Starts at once; the signal fires when everybody who waited has gone. */
  constructor(action: string, start: (signal: AbortSignal) => Promise<T>) {
    this.#action = action;
    this.#outcome = start(this.#abandon.signal).finally(() => {
      this.#isSettled = true;
    });
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Whoever comes now would wait for a call that has been given up. */
  get isAbandoned(): boolean {
    return this.#abandon.signal.aborted;
  }

  /** Throws what the call does, or an UpstreamError `cancelled` when the signal fires before. */
  async outcome(signal: AbortSignal | undefined): Promise<T> {
    const { promise: cancelled, reject } = Promise.withResolvers<never>();
    const cancel = (): void => reject(this.#cancelled());
    this.#waiting += 1;
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted === true) cancel();
    try {
      return await Promise.race([cancelled, this.#outcome]);
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.#waiting -= 1;
      if (this.#waiting === 0 && !this.#isSettled) this.#abandon.abort();
    }
  }

  #cancelled(): UpstreamError {
    return new UpstreamError({
      system: 'cluster',
      action: this.#action,
      reason: 'cancelled',
      detail: 'cancelled by the caller',
    });
  }
}
