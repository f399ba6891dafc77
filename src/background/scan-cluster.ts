// Looks through what lies on one cluster under our labels and decides about each object. It changes nothing: what is
// done about it is left to settle-scan.ts, whose turn a cluster is to remove-orphan-grants.ts.
import type { Broker } from '../broker/broker.ts';
import type { GrantUids } from '../domain/binding.ts';
import { addMs } from '../domain/clock.ts';
import { decideOrphan, type OrphanDecision } from '../domain/orphans.ts';
import { verifyMarkOf } from '../kubernetes/grant-mark.ts';
import { type ListedObject, listOwnedPage, type OwnedPage } from '../kubernetes/list-owned.ts';
import type { GrantObjectKind, Reach } from '../kubernetes/owned-object.ts';
import { findGrantsByName, type NamedGrant } from '../storage/orphans.ts';
import type { Restore } from '../storage/restores.ts';

export interface ScanOrder {
  readonly reach: Reach;
  readonly clusterUid: string;
  /** Where the plan has its accounts. */
  readonly namespace: string;
  readonly restore: Restore;
  /** Where the scan before this one stopped. */
  readonly position: string | undefined;
  readonly budget: ScanBudget;
}

/** What one scan may take; what is left then is for the next one. */
export interface ScanBudget {
  readonly pages: number;
  readonly listingMs: number;
  /** Objects to remove or reopen; a page is looked at as a whole, so it can be exceeded by one. */
  readonly toActOn: number;
}

export interface JudgedObject {
  readonly object: ListedObject;
  readonly decision: OrphanDecision;
  /** The row that has its name. */
  readonly grant: NamedGrant | undefined;
}

export interface Scan {
  /** All but those that are left to their rows, or not judged yet. Of reports no more than a sample. */
  readonly judged: readonly JudgedObject[];
  readonly counts: Readonly<Record<OrphanDecision, number>>;
  /** Where to go on; undefined when all was seen. */
  readonly position: string | undefined;
}

/** Some 250 kB of objects of ours; the API server itself reads lists in pages of 500. */
const PAGE_OBJECTS = 250;

/** Whoever makes thousands of objects with our labels fills a line of the log, and no more. */
const MAX_SAMPLES = 10;

/** The role bindings first: without them the others give no rights. */
const KINDS: readonly GrantObjectKind[] = ['ClusterRoleBinding', 'ServiceAccount', 'ClusterRole'];

/** Throws an UpstreamError of the cluster or of the database, and SealingError when the key of the marks is lost. */
export async function scanCluster(broker: Broker, order: ScanOrder): Promise<Scan> {
  const { budget } = order;
  const judgement = new Judgement();
  const listUntil = addMs(broker.clock(), budget.listingMs);
  let place: Place | undefined = placeOfPosition(order.position);
  for (let pages = 0; place !== undefined; pages += 1) {
    const isSpent = pages >= budget.pages || broker.clock() >= listUntil;
    if (isSpent || judgement.toActOn >= budget.toActOn) {
      break;
    }
    const page = await readPage(broker, order, place);
    judgement.add(await judge(broker, order, page.objects));
    place = placeAfter(place, page);
  }
  const { judged, counts } = judgement;
  return { judged, counts, position: place && positionOfPlace(place) };
}

interface Place {
  readonly kind: GrantObjectKind;
  readonly after: string | undefined;
  readonly limit: number;
}

function readPage(broker: Broker, order: ScanOrder, place: Place): Promise<OwnedPage> {
  const { installation } = broker.marker();
  return listOwnedPage(order.reach, { ...place, installation, namespace: order.namespace });
}

function placeAfter({ kind }: Place, { next, limit }: OwnedPage): Place | undefined {
  if (next !== undefined) {
    return { kind, after: next, limit: Math.min(limit * 2, PAGE_OBJECTS) };
  }
  const nextKind = KINDS[KINDS.indexOf(kind) + 1];
  return nextKind && { kind: nextKind, after: undefined, limit: PAGE_OBJECTS };
}

/** Kind and continuation; anything else, by an earlier release for example, is the beginning. */
function placeOfPosition(position: string | undefined): Place {
  const [kindName = '', after = ''] = position?.split(' ') ?? [];
  const kind = KINDS.find((each) => each === kindName);
  return {
    kind: kind ?? 'ClusterRoleBinding',
    after: kind === undefined || after === '' ? undefined : after,
    limit: PAGE_OBJECTS,
  };
}

function positionOfPlace({ kind, after = '' }: Place): string {
  return `${kind} ${after}`;
}

async function judge(
  broker: Broker,
  order: ScanOrder,
  objects: readonly ListedObject[],
): Promise<readonly JudgedObject[]> {
  const marker = broker.marker();
  const marked = objects.map((object) => ({
    object,
    markedAt: verifyMarkOf(marker, { metadata: object }),
  }));
  // Only names that we gave ourselves are asked for, whatever the tenant calls his objects.
  const names = new Set(marked.flatMap(({ object, markedAt }) => (markedAt ? [object.name] : [])));
  const grants = await findGrantsByName(broker.db, [...names]);
  const now = broker.clock();
  return marked.map(({ object, markedAt }) => {
    const grant = grants.get(object.name);
    const row = grant && rowOf(grant, object, order.clusterUid);
    const { uid } = object;
    const restoreConfirmedAt = order.restore.confirmedAt;
    return {
      object,
      decision: decideOrphan({ uid, markedAt, row, restoreConfirmedAt }, now),
      grant,
    };
  });
}

const UID_OF_KIND: Readonly<Record<GrantObjectKind, keyof GrantUids>> = {
  ServiceAccount: 'account',
  ClusterRole: 'role',
  ClusterRoleBinding: 'roleBinding',
};

function rowOf(grant: NamedGrant, object: ListedObject, clusterUid: string) {
  const isInNamespace = object.kind !== 'ServiceAccount' || object.namespace === grant.namespace;
  return {
    isOfThisPlace: grant.clusterUid === clusterUid && isInNamespace,
    uid: grant.uids?.[UID_OF_KIND[object.kind]],
    hasEnded: grant.hasEnded,
    isToBeLookedAt: grant.isToBeLookedAt,
    isOutOfReach: grant.isOutOfReach,
  };
}

class Judgement {
  readonly judged: JudgedObject[] = [];
  readonly counts: Record<OrphanDecision, number> = {
    leave: 0,
    report: 0,
    foreign: 0,
    reopen: 0,
    wait: 0,
    'suspect-restore': 0,
    remove: 0,
  };
  toActOn = 0;

  add(judged: readonly JudgedObject[]): void {
    for (const each of judged) {
      const { decision } = each;
      this.counts[decision] += 1;
      if (decision === 'remove' || decision === 'reopen') {
        this.toActOn += 1;
        this.judged.push(each);
      } else if (this.counts[decision] <= MAX_SAMPLES && decision !== 'leave') {
        this.judged.push(each);
      }
    }
  }
}
