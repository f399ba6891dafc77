// Finds, from the side of the clusters, what carries our mark and has no row, and removes it: the leak that no row can
// tell of. One pass goes through the clusters whose turn it is, several at a time, each within limits of its own.
import type { Broker } from '../broker/broker.ts';
import { addMs } from '../domain/clock.ts';
import { BrokerError, UpstreamError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import { CallLimit } from '../kubernetes/call-limit.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { type ClusterFacts, clusterScanFailed } from '../observability/events.ts';
import {
  type ClaimedScan,
  claimScan,
  listClustersToScan,
  readScan,
  recordScan,
  type ScanClaim,
} from '../storage/orphans.ts';
import { type Restore, readRestore } from '../storage/restores.ts';
import { type Scan, type ScanBudget, scanCluster } from './scan-cluster.ts';
import { heldBackOf, type SettledScan, settleScan } from './settle-scan.ts';

export interface OrphanOptions {
  /** Fires when the process is to stop; clusters in work are looked at again an hour later. */
  readonly signal: AbortSignal;
  /** Looks, and writes nothing: neither to clusters nor to the ledger. */
  readonly isDryRun?: boolean;
  /** Also clusters whose turn it is not, and all that lies on them at once. */
  readonly everyCluster?: boolean;
}

export interface OrphanReport {
  /** Clusters that were looked through, or as far as one scan goes. */
  readonly scanned: number;
  /** Grants without a row that were removed; of a dry run, that would be. */
  readonly orphans: number;
  /** Clusters that could not be looked through, and orphans that could not be removed. */
  readonly failed: number;
  /** Ended grants that had something left and are unfinished again; of a dry run, that would be. */
  readonly reopened: number;
  /** Objects with our labels that are not ours as far as can be proven, or not those of their row. */
  readonly reported: number;
  /** Objects without a row that stay, since an older database seems to have been restored. */
  readonly heldBack: number;
}

/**
 * A scan is three lists and costs a cluster less than one kubectl; an orphan needs a crash or a restore on top of a fault
 * of ours to come into being. Once an hour finds it within the two hours that its token lives at most.
 */
const INTERVAL_MS = 60 * 60 * 1000;

/** Within the five minutes for which an API server knows its continuation; a minute for others to have their turn. */
const GO_ON_AFTER_MS = 60 * 1000;

/** A pass is bounded; who is left waits longest and comes first in the next one. */
const CLUSTERS_A_PASS = 1_000;

/** All, for who asks for all: their uids alone are held. */
const ALL_CLUSTERS = 1_000_000;

/** A dead cluster holds one of them for 12 s, once an hour: 2,000 dead ones are needed before the others wait. */
const CLUSTERS_AT_ONCE = 8;

/**
 * 10,000 objects in some seconds. Who has more of them, or a slow cluster, goes on a minute later, and no sooner than
 * all who were due before: a tenant who makes 100,000 objects with our labels takes a tenth of one worker for as long as
 * that lasts, and one whose API server never comes to an end a third.
 */
const SCAN_BUDGET: ScanBudget = { pages: 40, listingMs: 10_000, toActOn: 300 };

/** Beyond the listing: a call that hangs, and removing what was found. */
const SCAN_TIMEOUT_MS = 30_000;

/** Somebody waits for it to be complete. */
const COMPLETE_BUDGET: ScanBudget = { pages: 2_000, listingMs: 5 * 60 * 1000, toActOn: 10_000 };
const COMPLETE_TIMEOUT_MS = 10 * 60 * 1000;

/**
 * One pass: the clusters whose turn it is, or every one. Two replicas never scan the same cluster at once, nor a command
 * beside them.
 * @throws UpstreamError of the database; SealingError when the key of the marks is lost, without which all is foreign
 */
export async function removeOrphanGrants(
  broker: Broker,
  options: OrphanOptions,
): Promise<OrphanReport> {
  broker.marker();
  const { signal, everyCluster = false } = options;
  const now = broker.clock();
  // What was claimed within a scan's longest time may be in work on another replica, or was seen a moment ago.
  const dueAt = everyCluster ? addMs(now, INTERVAL_MS - SCAN_TIMEOUT_MS) : now;
  const limit = everyCluster ? ALL_CLUSTERS : CLUSTERS_A_PASS;
  const waiting = [...(await listClustersToScan(broker.db, { dueAt, limit }))].reverse();
  const tally = new Tally();
  const work = async () => {
    for (let uid = waiting.pop(); uid !== undefined && !signal.aborted; uid = waiting.pop()) {
      await scanInTurn(broker, { ...options, clusterUid: uid, dueAt }, tally);
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: CLUSTERS_AT_ONCE }, work));
  const fault = workers.find((worker) => worker.status === 'rejected');
  if (fault !== undefined) {
    throw fault.reason;
  }
  return tally.report();
}

interface Turn extends OrphanOptions {
  readonly clusterUid: string;
  readonly dueAt: Date;
}

async function scanInTurn(broker: Broker, turn: Turn, tally: Tally): Promise<void> {
  const nextScanAt = addMs(broker.clock(), INTERVAL_MS);
  const claim: ScanClaim = { clusterUid: turn.clusterUid, nextScanAt };
  const claimed =
    turn.isDryRun === true
      ? await readScan(broker.db, claim)
      : await claimScan(broker.db, claim, turn.dueAt);
  if (claimed === undefined) {
    return;
  }
  const timeoutMs = turn.everyCluster === true ? COMPLETE_TIMEOUT_MS : SCAN_TIMEOUT_MS;
  const limit = new CallLimit(timeoutMs, turn.signal);
  try {
    const restore = await readRestore(broker.db, turn.clusterUid);
    await scanThrough(broker, { turn, claimed, restore, signal: limit.signal }, tally);
  } finally {
    limit.release();
  }
}

interface Work {
  readonly turn: Turn;
  readonly claimed: ClaimedScan;
  readonly restore: Restore;
  readonly signal: AbortSignal;
}

/** Instances that have attached one cluster may have accesses of which one does not work any more. */
async function scanThrough(broker: Broker, work: Work, tally: Tally): Promise<void> {
  const { turn, claimed } = work;
  for (const [at, instance] of claimed.instances.entries()) {
    try {
      await scanBy(broker, { ...work, instance }, tally);
      return;
    } catch (error) {
      if (error instanceof UpstreamError && error.system === 'database') {
        throw error;
      }
      broker.clusters.noticeFailure(instance, error);
      tellFailure(broker, { clusterUid: turn.clusterUid, instanceId: instance.id }, error);
      const isLast = at === claimed.instances.length - 1;
      if (isLast || work.signal.aborted) {
        tally.clusterFailed();
        return;
      }
    }
  }
}

/** Whatever it is, it is this cluster's: a bug that one of them brings out does not keep the others. */
function tellFailure({ log }: Broker, facts: ClusterFacts, error: unknown): void {
  if (error instanceof UpstreamError) {
    clusterScanFailed(log, { ...facts, cause: `${error.reason}: ${error.action}` });
  } else if (error instanceof BrokerError) {
    clusterScanFailed(log, { ...facts, cause: error.code });
  } else {
    log.error({ err: error, ...facts }, 'a cluster could not be scanned');
  }
}

interface InstanceWork extends Work {
  readonly instance: Instance;
}

async function scanBy(broker: Broker, work: InstanceWork, tally: Tally): Promise<void> {
  const { turn, claimed, restore, signal, instance } = work;
  const { clusterUid } = turn;
  const client = await broker.clusters.open(instance, signal);
  const scan = await scanCluster(broker, {
    reach: { client, signal },
    clusterUid,
    namespace: namespaceOf(broker, instance),
    restore,
    position: turn.everyCluster === true ? undefined : claimed.position,
    budget: turn.everyCluster === true ? COMPLETE_BUDGET : SCAN_BUDGET,
  });
  // Before anything follows from what was seen: that all of it was seen on this cluster.
  await broker.clusters.confirm(client, instance, signal);
  if (turn.isDryRun === true) {
    tally.seen(scan, wouldBe(scan, restore));
    return;
  }
  const scanned = { client, instance, clusterUid, restore, signal };
  tally.seen(scan, await settleScan(broker, scanned, scan));
  await goOnLater(broker, claimed, scan);
}

/** Only asked for where the accounts of all namespaces may not be listed. */
function namespaceOf({ provisioners }: Broker, instance: Instance): string {
  return provisioners.plan(instance.planId)?.namespace ?? 'kyma-system';
}

async function goOnLater(broker: Broker, { claim, position }: ClaimedScan, scan: Scan) {
  if (scan.position === undefined && position === undefined) {
    return;
  }
  const nextScanAt =
    scan.position === undefined ? claim.nextScanAt : addMs(broker.clock(), GO_ON_AFTER_MS);
  await recordScan(broker.db, claim, { position: scan.position, nextScanAt });
}

function wouldBe(scan: Scan, restore: Restore): SettledScan {
  const { counts, judged } = scan;
  const named = (decision: 'remove' | 'reopen'): number =>
    new Set(judged.filter((each) => each.decision === decision).map(({ object }) => object.name))
      .size;
  const isHeldBack = restore.isSuspected || counts['suspect-restore'] > 0;
  return {
    removed: isHeldBack ? 0 : named('remove'),
    notRemoved: 0,
    reopened: isHeldBack ? 0 : named('reopen'),
    heldBack: isHeldBack ? heldBackOf(scan) : 0,
  };
}

class Tally {
  readonly #sums = { scanned: 0, orphans: 0, failed: 0, reopened: 0, reported: 0, heldBack: 0 };

  clusterFailed(): void {
    this.#sums.failed += 1;
  }

  seen({ counts }: Scan, settled: SettledScan): void {
    this.#sums.scanned += 1;
    this.#sums.orphans += settled.removed;
    this.#sums.failed += settled.notRemoved;
    this.#sums.reopened += settled.reopened;
    this.#sums.heldBack += settled.heldBack;
    this.#sums.reported += counts.report + counts.foreign;
  }

  report(): OrphanReport {
    return { ...this.#sums };
  }
}
