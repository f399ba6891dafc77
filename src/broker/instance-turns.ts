// Requests that decide about one instance wait for the lock of its row. Beyond a few they wait here, in memory and in
// the order in which they came, and not each with a connection in its hand: a crowd at one instance would else take all
// of the pool, and requests for other instances would find none.
import { BrokerError } from '../domain/errors.ts';
import { CONCURRENT_OPERATION } from '../domain/refusals.ts';

/** One holds the lock and the next one waits for it in the database, so that no trip is lost between the two. */
const MOST_AT_ONCE = 2;

interface Line {
  atWork: number;
  /** Each is handed the place of one who leaves. */
  readonly waiting: Set<() => void>;
}

export class InstanceTurns {
  readonly #lines = new Map<string, Line>();

  /**
   * Runs `work`, a transaction that begins with the instance's lock, when its turn has come. It must not take a turn of
   * the same instance itself.
   * @throws BrokerError `concurrent-operation` when `signal` fires before; what `work` throws
   */
  async take<T>(instanceId: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const line = this.#lines.get(instanceId) ?? { atWork: 0, waiting: new Set() };
    this.#lines.set(instanceId, line);
    if (line.atWork < MOST_AT_ONCE) {
      line.atWork += 1;
    } else {
      await placeIn(line, signal);
    }
    try {
      return await work();
    } finally {
      this.#leave(instanceId, line);
    }
  }

  #leave(instanceId: string, line: Line): void {
    const [next] = line.waiting;
    if (next !== undefined) {
      line.waiting.delete(next);
      next();
      return;
    }
    line.atWork -= 1;
    if (line.atWork === 0) {
      this.#lines.delete(instanceId);
    }
  }
}

async function placeIn({ waiting }: Line, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const giveUp = (): void => {
    waiting.delete(resolve);
    reject(new BrokerError(CONCURRENT_OPERATION));
  };
  waiting.add(resolve);
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted === true) giveUp();
  try {
    await promise;
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}
