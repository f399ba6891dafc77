// What must be true once whatever was broken works again and nothing is due any more: the ledger and the cluster tell
// the same story, and what the broker hands out works.

import { expect } from 'vitest';
import type { ClusterEyes } from '../../support/cluster-administrator.ts';
import type { LedgerEyes } from '../../support/ledger-dump.ts';
import type { Ids, Platform } from '../../support/platform.ts';
import { until } from '../../support/until.ts';

export interface Witnesses {
  readonly ledger: LedgerEyes;
  readonly eyes: ClusterEyes;
  readonly platform: Platform;
}

/** Sweeps come within two seconds of what is due; the rest is for a machine that is busy with other tests. */
const SETTLED_LIMIT_MS = 60_000;

/** For an API server that is busy with other tests. */
const WORKS_LIMIT_MS = 10_000;

/**
 * Lets what would be due later be due at once, on a database that has nobody else's rows: what is put off after a
 * failure, and the beat of replicas that write none any more.
 */
export async function bringForward({ ledger }: Pick<Witnesses, 'ledger'>): Promise<void> {
  await ledger.sql(`update replicas set seen_at = seen_at - interval '7 seconds'
    where seen_at < (select max(seen_at) from replicas)`);
  await ledger.sql(`update grants set next_try_at = now()
    where ended_at is null and revoking_since is not null and leased_until is null`);
}

/** Returns once every grant has ended or lives. */
export async function settled({ ledger }: Pick<Witnesses, 'ledger'>, what: string): Promise<void> {
  await until({
    what: `nothing is due after ${what}`,
    limitMs: SETTLED_LIMIT_MS,
    isSo: async () => {
      const open = await ledger.sql(`select name, last_error from grants
        where ended_at is null and (expires_at is null or revoking_since is not null)`);
      return open.length === 0;
    },
  });
}

/**
 * No object without a live grant and the other way round; the id can be bound, by what lives where something does; the
 * credential works; the limit counts it alone. Leaves the binding deleted.
 * @returns whether a grant was live before
 */
export async function expectAllRight(
  { ledger, eyes, platform }: Witnesses,
  ids: Ids,
  what: string,
): Promise<boolean> {
  const [installation] = await ledger.sql<{ id: string }>('select id from installation');
  const objects = await eyes.objectsOf(installation?.id ?? '');
  const live = await ledger.sql<{ name: string }>(
    'select name from grants where ended_at is null order by name',
  );
  const expected = live.flatMap(({ name }) => [name, name, name]);
  const found = objects.map(({ metadata }) => metadata.name).toSorted();
  expect(found, `${what}: three objects of each live grant, and no other`).toEqual(expected);

  const bound = await platform.bind(ids);
  const wasLive = live.length > 0;
  expect(bound.status, `${what}: the id can be bound`).toBe(wasLive ? 200 : 201);
  // At once on the API server that made it, as far as that has seen its own role binding: a few milliseconds behind.
  await until({
    what: `the credential works after ${what}`,
    limitMs: WORKS_LIMIT_MS,
    isSo: async () => (await eyes.statusWith(bound.body.credentials.token)) === 200,
  });
  const remaining = bound.headers.get('x-runtime-broker-bindings-remaining');
  expect(remaining, `${what}: one slot of ten is taken`).toBe('9');
  expect((await platform.unbind(ids)).status, `${what}: and can be unbound`).toBe(200);
  // Else attempts of this case would be looked at once more in the middle of a later one.
  await ledger.sql('update grants set next_try_at = null where ended_at is not null');
  return wasLive;
}
