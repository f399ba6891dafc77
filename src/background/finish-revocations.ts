// Ends what was ordered to end, over all instances: due grants are claimed by lease columns, in batches as large as
// there are free workers, and each cluster has its own small share of them. What ending means is left to
// broker/finish-revocation.ts.
import type { Broker } from '../broker/broker.ts';
import { drawFraction } from '../broker/draw-fraction.ts';
import { finishRevocation, lookOnceMore } from '../broker/finish-revocation.ts';
import { addMs } from '../domain/clock.ts';
import type { Instance } from '../domain/instance.ts';
import { CallLimit } from '../kubernetes/call-limit.ts';
import {
  type ClaimedGrant,
  claimDueGrants,
  eraseSettledAccess,
  makeFailedTriesDue,
  readNextTry,
  releaseGrants,
} from '../storage/due-grants.ts';
import { findInstanceByKey } from '../storage/instances.ts';
import type { Bell } from './bell.ts';
import { Circuits } from './circuits.ts';

/**
 * Workers wait for clusters nearly all the time. Sixteen clusters that fall silent in the same moment can hold all of
 * them, once, for the 12 s that a call takes; then their circuits are open, and each holds one now and then.
 */
const WORKERS = 64;

/**
 * Of one cluster. A live one revokes a grant in some 20 ms, so four make ten live bindings disappear within a tenth of
 * a second; a silent or slow one holds no more than a sixteenth of the workers.
 */
const WORKERS_PER_INSTANCE = 4;

/** Calls end after 12 s each; three round trips and asking with a token for 12 s end within this on all but dead clusters. */
const GRANT_TIMEOUT_MS = 30_000;

/** Longer than a grant may take, so that two replicas work on the same one only if a process was paused meanwhile. */
const LEASE_MS = 60_000;

/** Between two looks at what is due, so that a row which another replica is about to claim is not asked for in vain. */
const SHORTEST_PAUSE_MS = 50;

/** How late something is seen that became due on another replica, or whose cluster may be tried again. */
const LONGEST_PAUSE_MS = 2_000;

export interface FinishReport {
  readonly revoked: number;
  readonly failed: number;
  /** Of those that had ended before: nothing is left of them, or they are tried again. */
  readonly lookedAgain: number;
}

export interface FinishOptions {
  /** Fires when the process stops: what runs is cut off, and what is claimed is given back. */
  readonly signal: AbortSignal;
  /** What is known of the clusters from earlier passes; nothing unless said. */
  readonly circuits?: Circuits;
  /** Rung when something has become due. */
  readonly bell?: Bell;
}

/**
 * Returns when nothing is due and nothing in flight, or once it is told to stop.
 * @throws UpstreamError of the database, when everything that was in flight has ended
 */
export async function finishRevocations(
  broker: Broker,
  { signal, circuits = circuitsOf(broker), bell }: FinishOptions,
): Promise<FinishReport> {
  const pool = new RevocationPool(broker, { signal, circuits, bell });
  try {
    await pool.work();
  } finally {
    await pool.settled();
  }
  await eraseLeftovers(broker);
  return pool.report;
}

export function circuitsOf({ clock, draw }: Broker): Circuits {
  return new Circuits({ clock, drawFraction: () => drawFraction(draw) });
}

/** How long to wait for the next pass: until something is due that may be tried. */
export async function untilNextTryMs(broker: Broker, circuits: Circuits): Promise<number> {
  const { db, clock } = broker;
  const now = clock();
  const horizon = addMs(now, LONGEST_PAUSE_MS);
  const placesTaken = placesTakenOf(circuits, new Map());
  const question = { now, horizon, perInstance: WORKERS_PER_INSTANCE, placesTaken };
  const next = (await readNextTry(db, question)) ?? horizon;
  return Math.max(SHORTEST_PAUSE_MS, next.getTime() - clock().getTime());
}

/** What a crash has left between the end of a last grant and the erasure, or what ended without a grant. */
async function eraseLeftovers({ db, clock, clusters }: Broker): Promise<void> {
  for (const key of await eraseSettledAccess(db, { at: clock() })) {
    clusters.forget(key);
  }
}

/** Of each instance's share: an open circuit takes all of it, and one that is half open leaves one place. */
function placesTakenOf(
  circuits: Circuits,
  inFlight: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const taken = new Map(inFlight);
  for (const key of circuits.keys()) {
    const closedPlaces =
      circuits.stateOf(key) === 'open' ? WORKERS_PER_INSTANCE : WORKERS_PER_INSTANCE - 1;
    taken.set(key, closedPlaces + (inFlight.get(key) ?? 0));
  }
  return taken;
}

interface PoolOptions {
  readonly signal: AbortSignal;
  readonly circuits: Circuits;
  readonly bell: Bell | undefined;
}

class RevocationPool {
  readonly report = { revoked: 0, failed: 0, lookedAgain: 0 };
  readonly #broker: Broker;
  readonly #options: PoolOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #inFlight = new Map<string, number>();
  /** The first failure that is not one of a cluster. */
  #fault: { readonly error: unknown } | undefined;

  constructor(broker: Broker, options: PoolOptions) {
    this.#broker = broker;
    this.#options = options;
  }

  async work(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      const claimed = await this.#claim();
      if (this.#fault !== undefined) throw this.#fault.error;
      if (claimed > 0) continue;
      if (this.#running.size > 0) await this.#somethingToDo();
      else if (await this.#isSomethingDue()) await this.#broker.sleep(SHORTEST_PAUSE_MS);
      else return;
    }
  }

  /** Nothing was claimed, and it is not so that nothing is due: others are about to claim it, or have let go of it. */
  async #isSomethingDue(): Promise<boolean> {
    const { db, clock } = this.#broker;
    const now = clock();
    const placesTaken = placesTakenOf(this.#options.circuits, this.#inFlight);
    const question = { now, horizon: now, perInstance: WORKERS_PER_INSTANCE, placesTaken };
    return (await readNextTry(db, question)) !== undefined;
  }

  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** @returns how many were begun */
  async #claim(): Promise<number> {
    const { db, clock, replicaId } = this.#broker;
    const limit = WORKERS - this.#running.size;
    if (limit === 0) return 0;
    const now = clock();
    const claimed = await claimDueGrants(db, {
      replicaId,
      now,
      leasedUntil: addMs(now, LEASE_MS),
      limit,
      perInstance: WORKERS_PER_INSTANCE,
      placesTaken: placesTakenOf(this.#options.circuits, this.#inFlight),
    });
    if (this.#options.signal.aborted) {
      const grantIds = claimed.map(({ grantId }) => grantId);
      await releaseGrants(db, { replicaId, grantIds });
      return 0;
    }
    for (const grant of claimed) this.#begin(grant);
    return claimed.length;
  }

  #begin(grant: ClaimedGrant): void {
    const { instanceKey } = grant;
    this.#inFlight.set(instanceKey, (this.#inFlight.get(instanceKey) ?? 0) + 1);
    const running = this.#run(grant)
      .catch((error: unknown) => {
        this.#fault ??= { error };
      })
      .finally(() => {
        this.#running.delete(running);
        const left = (this.#inFlight.get(instanceKey) ?? 1) - 1;
        if (left === 0) this.#inFlight.delete(instanceKey);
        else this.#inFlight.set(instanceKey, left);
      });
    this.#running.add(running);
  }

  /** Somebody is free again, or something may have become due meanwhile. */
  async #somethingToDo(): Promise<void> {
    const { bell } = this.#options;
    const over = new AbortController();
    const pause = this.#broker.sleep(LONGEST_PAUSE_MS, over.signal);
    const ended = Promise.race([...this.#running, pause.catch(() => undefined)]);
    await (bell === undefined ? ended : bell.heard(ended));
    over.abort();
  }

  /** @throws only what is no failure of this grant's cluster */
  async #run({ grantId, instanceKey, endedAt }: ClaimedGrant): Promise<void> {
    const { db, clock } = this.#broker;
    const found = await findInstanceByKey(db, instanceKey);
    if (found === undefined) throw new Error(`the instance of grant ${grantId} is gone`);
    const hasEnded = endedAt !== undefined;
    if (!(await this.#tryIt(found.instance, { grantId, hasEnded }))) {
      this.report.failed += 1;
      return;
    }
    this.report[hasEnded ? 'lookedAgain' : 'revoked'] += 1;
    if (this.#options.circuits.succeeded(instanceKey)) {
      await makeFailedTriesDue(db, { instanceKey, now: clock() });
    }
  }

  /** @returns whether it is done; if not, why and when it is tried again is in its row */
  async #tryIt(
    instance: Instance,
    { grantId, hasEnded }: { readonly grantId: string; readonly hasEnded: boolean },
  ): Promise<boolean> {
    const { signal: stopping, circuits } = this.#options;
    const limit = new CallLimit(GRANT_TIMEOUT_MS, stopping);
    const order = { instance, grantId, signal: limit.signal };
    try {
      await (hasEnded ? lookOnceMore : finishRevocation)(this.#broker, order);
      return true;
    } catch (error) {
      if (!stopping.aborted) circuits.failed(instance.key, error);
      this.#broker.log.warn({ err: error, grantId }, 'a grant could not be revoked yet');
      return false;
    } finally {
      limit.release();
    }
  }
}
