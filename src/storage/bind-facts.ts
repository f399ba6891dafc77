// What a bind, a fetch and an unbind decide on, each read in one statement: the instance with its state, the binding
// with its current grant, and for a bind the slots.
import type { Binding } from '../domain/binding.ts';
import type { Slots } from '../domain/slots.ts';
import type { Tx } from './database.ts';
import { isBeingIssued, issueIsDead, takesSlot } from './grant-rules.ts';
import {
  BY_OSB_ID,
  FOUND_INSTANCE,
  type FoundInstance,
  type FoundInstanceRow,
  toFoundInstance,
} from './instances.ts';
import { lastSeenOfLiving } from './replicas.ts';
import {
  BINDING_COLUMNS,
  type BindingRow,
  GRANT_COLUMNS,
  type GrantRow,
  partOf,
  type Prefixed,
  prefixedColumns,
  toBinding,
  toGrant,
} from './rows.ts';
import { statement } from './statement.ts';

export interface FoundBinding extends FoundInstance {
  /** Undefined when the instance never had one of that id. */
  readonly binding: Binding | undefined;
  /** The current grant's, sealed for `tokenPlace`. */
  readonly sealedToken: string | undefined;
}

export interface BindFacts extends FoundBinding {
  readonly slots: Slots;
  /** Grants of the instance whose issue nobody works on; `markDeadIssuesRevoking` gives their slots back. */
  readonly deadIssues: number;
}

type BindingPart = Prefixed<'b', BindingRow> &
  Prefixed<'g', GrantRow> & {
    readonly g_sealed_token: string | null;
    readonly replica_seen_at: Date | null;
  };

type FoundBindingRow = FoundInstanceRow & (BindingPart | { readonly b_id: null });

const COLUMNS = [
  FOUND_INSTANCE.columns,
  prefixedColumns('b', BINDING_COLUMNS),
  prefixedColumns('g', [...GRANT_COLUMNS, 'sealed_token']),
  'replicas.seen_at as replica_seen_at',
].join(', ');

/** The binding whose id is $2. */
const BINDING = `
  left join bindings b on b.instance_key = i.key and b.id = $2
  left join grants g on g.id = b.current_grant
  left join replicas on replicas.id = g.replica_id`;

const selectBinding = statement<FoundBindingRow>(
  `select ${COLUMNS} from ${BY_OSB_ID} i ${FOUND_INSTANCE.latest} ${BINDING}`,
);

/** What the request said that grant `u` is made for. Looked up only for one that is being issued, which few are. */
const ASKED_SECONDS = `(
    select o.expiration_seconds from bindings o
    where o.instance_key = u.instance_key and o.id = u.binding_id)`;

const selectBindFacts = statement<
  FoundBindingRow & {
    readonly taken: number;
    readonly next_free_at: Date | null;
    readonly first_by_default_at: Date | null;
    readonly dead_issues: number;
  }
>(
  `select ${COLUMNS}, slots.taken, slots.next_free_at, slots.first_by_default_at, slots.dead_issues
  from instances i ${FOUND_INSTANCE.latest} ${BINDING}
  cross join lateral (
    select
      count(*) filter (where ${takesSlot('u', '$3')})::int as taken,
      min(coalesce(u.expires_at, u.intended_at + make_interval(secs => ${ASKED_SECONDS})))
        filter (where ${takesSlot('u', '$3')}) as next_free_at,
      min(u.intended_at) filter (where ${isBeingIssued('u')} and ${ASKED_SECONDS} is null)
        as first_by_default_at,
      count(*) filter (where ${isBeingIssued('u')} and ${issueIsDead('u', '$3', '$4')})::int as dead_issues
    from grants u where u.instance_key = i.key and u.ended_at is null
  ) slots
  where i.key = $1`,
);

/** By OSB ids: of the instance that has the id now, else of the one that was deleted last. */
export async function findBinding(
  tx: Tx,
  { instanceId, bindingId }: { readonly instanceId: string; readonly bindingId: string },
): Promise<FoundBinding | undefined> {
  const [row] = await selectBinding(tx, [instanceId, bindingId]);
  return row && toFoundBinding(row);
}

export interface BindQuestion {
  readonly instanceKey: string;
  readonly bindingId: string;
  readonly now: Date;
}

/** Decided on under `lockInstance` only: without it, what was counted may be taken by the time of the decision. */
export async function readBindFacts(
  tx: Tx,
  { instanceKey, bindingId, now }: BindQuestion,
): Promise<BindFacts | undefined> {
  const [row] = await selectBindFacts(tx, [instanceKey, bindingId, now, lastSeenOfLiving(now)]);
  return (
    row && {
      ...toFoundBinding(row),
      slots: {
        taken: row.taken,
        nextFreeAt: row.next_free_at ?? undefined,
        firstByDefaultAt: row.first_by_default_at ?? undefined,
      },
      deadIssues: row.dead_issues,
    }
  );
}

function toFoundBinding(row: FoundBindingRow): FoundBinding {
  const found = toFoundInstance(row);
  if (row.b_id === null) {
    return { ...found, binding: undefined, sealedToken: undefined };
  }
  const grant = toGrant(partOf(row, 'g', GRANT_COLUMNS), row.replica_seen_at);
  return {
    ...found,
    binding: toBinding(partOf(row, 'b', BINDING_COLUMNS), grant),
    sealedToken: row.g_sealed_token ?? undefined,
  };
}
