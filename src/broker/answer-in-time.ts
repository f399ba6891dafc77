// Holds a request to the time by which it must be answered (docs/api.md, "Bind" and "Unbind"), whatever waits: a lock,
// a silent database, a cluster. What is late goes on and is settled by its row; a repeat finds what it came to.
import type { BrokerError } from '../domain/errors.ts';
import type { Broker } from './broker.ts';

export interface TimeLimit {
  readonly limitMs: number;
  readonly late: () => BrokerError;
}

export async function answerInTime<T>(
  broker: Pick<Broker, 'sleep' | 'log'>,
  work: Promise<T>,
  { limitMs, late }: TimeLimit,
): Promise<T> {
  const answered = new AbortController();
  const limit = broker.sleep(limitMs, answered.signal).then(
    () => 'late' as const,
    () => 'answered' as const,
  );
  try {
    const first = await Promise.race([work.then((value) => ({ value })), limit]);
    if (typeof first === 'object') {
      return first.value;
    }
    work.catch((error: unknown) => {
      broker.log.warn({ err: error }, 'a request failed after it had been answered as late');
    });
    throw late();
  } finally {
    answered.abort();
  }
}
