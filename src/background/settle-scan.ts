// Does what a scan of a cluster has decided: tells of what is not ours, makes grants unfinished that have something
// left, removes what has no row; or, where an older database seems to have been restored, holds all removal back.
import type { Broker } from '../broker/broker.ts';
import { UpstreamError } from '../domain/errors.ts';
import type { Instance } from '../domain/instance.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import type { ListedObject } from '../kubernetes/list-owned.ts';
import { type OwnedObject, placeOfObject } from '../kubernetes/owned-object.ts';
import { removeObjects } from '../kubernetes/removal.ts';
import {
  grantReopened,
  type ObjectSample,
  objectsLeftAlone,
  orphanNotRemoved,
  orphanRemoved,
  restoreSuspected,
} from '../observability/events.ts';
import { reopenGrant } from '../storage/orphans.ts';
import { type Restore, suspectRestore } from '../storage/restores.ts';
import type { JudgedObject, Scan } from './scan-cluster.ts';

export interface ScannedCluster {
  readonly client: ClusterClient;
  readonly instance: Instance;
  readonly clusterUid: string;
  readonly restore: Restore;
  readonly signal: AbortSignal;
}

export interface SettledScan {
  /** Grants without a row whose objects were removed. */
  readonly removed: number;
  readonly notRemoved: number;
  readonly reopened: number;
  /** Objects that stay since a restore is suspected. */
  readonly heldBack: number;
}

/** Each takes three round trips, so a page of orphans is gone within seconds. */
const REMOVALS_AT_ONCE = 4;

/** Throws UpstreamError of the database. What one orphan resists with does not keep the others. */
export async function settleScan(
  broker: Broker,
  scanned: ScannedCluster,
  scan: Scan,
): Promise<SettledScan> {
  const { clusterUid, instance } = scanned;
  const { counts, judged } = scan;
  if (counts.report + counts.foreign > 0) {
    objectsLeftAlone(broker.log, {
      instanceId: instance.id,
      clusterUid,
      unmarked: counts.report,
      foreign: counts.foreign,
      samples: judged.filter(({ decision }) => LEFT_ALONE.has(decision)).map(sampleOf),
    });
  }
  const suspicious = judged.find(({ decision }) => decision === 'suspect-restore');
  if (suspicious !== undefined) {
    await suspect(broker, scanned, suspicious.object);
  }
  if (suspicious !== undefined || scanned.restore.isSuspected) {
    return { removed: 0, notRemoved: 0, reopened: 0, heldBack: heldBackOf(scan) };
  }
  const reopened = await reopenAll(broker, judged);
  return { ...(await removeAll(broker, scanned, judged)), reopened, heldBack: 0 };
}

export function heldBackOf({ counts }: Scan): number {
  return counts.remove + counts.reopen + counts['suspect-restore'];
}

const LEFT_ALONE: ReadonlySet<JudgedObject['decision']> = new Set(['report', 'foreign']);

/** A Kubernetes name has 253 characters at most; a server that sends longer ones does not get them into our log. */
const MAX_NAME = 253;

function sampleOf({ object, decision }: JudgedObject): ObjectSample {
  return { kind: object.kind, name: object.name.slice(0, MAX_NAME), is: decision };
}

async function reopenAll(broker: Broker, judged: readonly JudgedObject[]): Promise<number> {
  let reopened = 0;
  for (const { decision, grant } of judged) {
    if (decision !== 'reopen' || grant === undefined) {
      continue;
    }
    // Its other objects find it reopened already.
    if (await reopenGrant(broker.db, { grantId: grant.grantId, at: broker.clock() })) {
      reopened += 1;
      const { instanceId, bindingId, name } = grant;
      grantReopened(broker.log, { instanceId, bindingId, grant: name });
    }
  }
  return reopened;
}

async function suspect(
  broker: Broker,
  { clusterUid, instance, restore }: ScannedCluster,
  { name }: ListedObject,
): Promise<void> {
  const suspicion = { clusterUid, grantName: name, confirmedAt: restore.confirmedAt };
  if (await suspectRestore(broker.db, { ...suspicion, at: broker.clock() })) {
    restoreSuspected(broker.log, { clusterUid, instanceId: instance.id, grant: name });
  }
}

async function removeAll(
  broker: Broker,
  scanned: ScannedCluster,
  judged: readonly JudgedObject[],
): Promise<Pick<SettledScan, 'removed' | 'notRemoved'>> {
  const waiting = [...orphansByName(judged)];
  let removed = 0;
  const total = waiting.length;
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [grant, objects] = next;
      removed += (await isRemoved(broker, scanned, { grant, objects })) ? 1 : 0;
    }
  };
  await Promise.all(Array.from({ length: REMOVALS_AT_ONCE }, work));
  return { removed, notRemoved: total - removed };
}

/** All that carries one name goes together, so that its role binding is emptied before its account is deleted. */
function orphansByName(judged: readonly JudgedObject[]): ReadonlyMap<string, OwnedObject[]> {
  const byName = new Map<string, OwnedObject[]>();
  for (const { object, decision } of judged) {
    if (decision !== 'remove') {
      continue;
    }
    const objects = byName.get(object.name) ?? [];
    objects.push(ownedObject(object));
    byName.set(object.name, objects);
  }
  return byName;
}

/** Under the uid that it had when it was judged: what takes its place meanwhile is not it. */
function ownedObject({ kind, name, namespace = '', uid }: ListedObject): OwnedObject {
  const place =
    kind === 'ServiceAccount'
      ? placeOfObject({ kind, name, namespace })
      : placeOfObject({ kind, name });
  return { ...place, uid };
}

interface Orphan {
  /** Name of the grant that it was. */
  readonly grant: string;
  readonly objects: readonly OwnedObject[];
}

async function isRemoved(
  broker: Broker,
  { client, instance, clusterUid, signal }: ScannedCluster,
  { grant, objects }: Orphan,
): Promise<boolean> {
  const facts = { clusterUid, instanceId: instance.id, grant, objects: objects.length };
  try {
    await removeObjects({ client, signal }, objects);
    // What is missing proves nothing where another cluster has begun to answer meanwhile.
    await broker.clusters.confirm(client, instance, signal);
    orphanRemoved(broker.log, facts);
    return true;
  } catch (error) {
    broker.clusters.noticeFailure(instance, error);
    const cause = error instanceof UpstreamError ? `${error.reason}: ${error.action}` : 'unknown';
    orphanNotRemoved(broker.log, { ...facts, cause });
    return false;
  }
}
