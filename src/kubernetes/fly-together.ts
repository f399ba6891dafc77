// Calls that only make sense together: all are started at once, and none of them is in flight any more when the
// outcome is known, so that whoever undoes them sees what there is.

/**
 * After one call has failed, the others get this long to end by themselves: the server may still carry out a call
 * that we cut off, and its object would appear after the undo has looked. A call usually takes a tenth of this.
 */
const SETTLE_MS = 1_000;

export interface Flight {
  /** Fires when the caller's does, or some time after one call has failed. */
  readonly signal: AbortSignal;
  /** Whether a call has failed already, so that no further one need be sent. */
  readonly hasFailed: () => boolean;
}

/** Results in the order of the calls; or, when all have settled, the failure that came first. */
export async function flyTogether<T extends readonly unknown[]>(
  callerSignal: AbortSignal | undefined,
  start: (flight: Flight) => { readonly [I in keyof T]: Promise<T[I]> },
): Promise<T> {
  const abort = new AbortController();
  const failures: unknown[] = [];
  let timer: NodeJS.Timeout | undefined;
  const calls = start({
    signal:
      callerSignal === undefined ? abort.signal : AbortSignal.any([callerSignal, abort.signal]),
    hasFailed: () => failures.length > 0,
  });
  const settled = calls.map((call) =>
    call.catch((failure: unknown) => {
      failures.push(failure);
      timer ??= setTimeout(() => abort.abort(), SETTLE_MS);
      return undefined;
    }),
  );
  const results = await Promise.all(settled);
  clearTimeout(timer);
  if (failures.length > 0) throw failures[0];
  return results as unknown as T;
}
