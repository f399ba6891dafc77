// Seals everything anew that is not sealed under the current key, value by value, while replicas serve: they open under
// either key. What was done stays done, so that a second run goes on where one was cut off.
import { SEALED_COLUMNS, type SealedColumn, type SealedKind } from '../storage/resealing.ts';
import { type SealedPlace, SealingError } from '../storage/sealing.ts';
import type { Broker } from './broker.ts';

/** Read at once: a page of tokens is some hundred kilobytes. */
const VALUES_A_PAGE = 200;

export interface RotationReport {
  readonly resealed: Readonly<Record<SealedKind, number>>;
  /** Sealed under the current key before. */
  readonly current: number;
  /** What no key opens: it stays as it is. */
  readonly unopenable: readonly SealedPlace[];
  /** False where it was told to stop before the end. */
  readonly isComplete: boolean;
}

export interface RotationOptions {
  readonly signal: AbortSignal;
}

/** @throws UpstreamError of the database; a repeat goes on */
export async function rotateKeys(
  broker: Pick<Broker, 'db' | 'sealer'>,
  { signal }: RotationOptions,
): Promise<RotationReport> {
  const tally = { resealed: { tokens: 0, accesses: 0, markKeys: 0 }, current: 0 };
  const unopenable: SealedPlace[] = [];
  for (const column of SEALED_COLUMNS) {
    await rotateColumn(broker, column, { signal, tally, unopenable });
  }
  return { ...tally, unopenable, isComplete: !signal.aborted };
}

interface Rotation extends RotationOptions {
  readonly tally: { readonly resealed: Record<SealedKind, number>; current: number };
  readonly unopenable: SealedPlace[];
}

async function rotateColumn(
  { db, sealer }: Pick<Broker, 'db' | 'sealer'>,
  column: SealedColumn,
  { signal, tally, unopenable }: Rotation,
): Promise<void> {
  let after: string | undefined;
  while (!signal.aborted) {
    const page = await column.list(db, { after, limit: VALUES_A_PAGE });
    for (const value of page) {
      const resealed = reseal(sealer, value);
      if (resealed === 'unopenable') {
        unopenable.push(value.place);
      } else if (resealed === 'current') {
        tally.current += 1;
      } else if (await column.replace(db, value, resealed.sealed)) {
        tally.resealed[column.kind] += 1;
      }
    }
    after = page.at(-1)?.place.row;
    if (page.length < VALUES_A_PAGE) {
      return;
    }
  }
}

/** Those under the current key are opened too: a key of the same id may be another one. */
function reseal(
  sealer: Broker['sealer'],
  { sealed, place }: { readonly sealed: string; readonly place: SealedPlace },
): { readonly sealed: string } | 'current' | 'unopenable' {
  try {
    const plain = sealer.open(sealed, place);
    return sealer.isCurrent(sealed) ? 'current' : { sealed: sealer.seal(plain, place) };
  } catch (error) {
    if (error instanceof SealingError) {
      return 'unopenable';
    }
    throw error;
  }
}
