// What operators see of bindings: every grant that has not ended, and of those whose revocation keeps failing, why. Never
// a credential: nothing sealed is read.
import {
  type GrantPosition,
  type ListedGrant,
  listUnfinishedGrants,
  type UnfinishedState,
} from '../storage/grant-list.ts';
import type { Broker } from './broker.ts';

export interface BindingsQuestion {
  readonly pageSize: number;
  readonly instanceId: string | undefined;
  readonly bindingId: string | undefined;
  readonly state: UnfinishedState | undefined;
  /** Where the page before ended. */
  readonly after: GrantPosition | undefined;
}

export interface BindingsPage {
  readonly bindings: readonly ListedGrant[];
  /** Where this page ended; undefined where it is the last one. */
  readonly next: GrantPosition | undefined;
}

export async function listBindings(
  { db, clock }: Pick<Broker, 'db' | 'clock'>,
  { pageSize, ...question }: BindingsQuestion,
): Promise<BindingsPage> {
  // One more than is shown tells whether there is a next page.
  const found = await listUnfinishedGrants(db, {
    ...question,
    now: clock(),
    limit: pageSize + 1,
  });
  const bindings = found.slice(0, pageSize);
  const last = bindings.at(-1);
  return { bindings, next: found.length > pageSize ? last : undefined };
}
