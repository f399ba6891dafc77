// A wait that ends.

/** Returns once the work has settled, or the time is over; the work then goes on by itself. @throws what it throws */
export async function settledWithin(limitMs: number, work: Promise<unknown>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const limit = setTimeout(resolve, limitMs);
  try {
    await Promise.race([work, over]);
  } finally {
    clearTimeout(limit);
  }
}
