// Changes an object, by PUT or PATCH: what may change, what only the cluster changes, and the end of one that is being
// deleted when nothing holds it any more.

import { isDeepStrictEqual } from 'node:util';

import { type JsonObject, type KubeObject, mapAt, type ObjectMeta } from '../api/kube-object.ts';
import { kindOf, type Resource, storageKey, subjectOf } from '../api/resource.ts';
import {
  badRequest,
  conflict,
  type FieldCause,
  forbiddenValue,
  invalid,
  invalidValue,
  notFound,
} from '../api/status.ts';
import { rulesOfKind } from '../kinds/rules-of-kind.ts';
import { checkEscalation } from '../rbac/escalation.ts';
import { type DecodedObject, decodeObject } from './decode.ts';
import { isHeld } from './delete-object.ts';
import { metadataFaults } from './metadata-rules.ts';
import { checkWrite, type Writer } from './writer.ts';

export interface ChangePlace {
  readonly resource: Resource;
  readonly namespace?: string | undefined;
  readonly name: string;
  /** `finalize` is known to namespaces only. */
  readonly subresource?: 'status' | 'finalize' | undefined;
}

export interface ChangeOrder {
  /** What the object is to be, from what it is. */
  readonly next: (current: KubeObject) => unknown;
  /** A body that names another uid is out of date: 409. Else it tries to change it: 422. */
  readonly isWhole: boolean;
}

/** Throws a StatusError; then nothing has changed. @returns the object as it is now, or was last. */
export function changeObject(writer: Writer, place: ChangePlace, order: ChangeOrder): KubeObject {
  const { resource, namespace, name } = place;
  const current = writer.cluster.objects.get({ resource: storageKey(resource), namespace, name });
  if (current === undefined) throw notFound(subjectOf(resource, name));
  const decoded = decodeObject(resource, order.next(current));
  checkPlace(place, decoded.metadata);
  checkVersion(resource, decoded.metadata, { current, isWhole: order.isWhole });
  const wanted = combined(place, current, decoded);
  const next = counted(resource, current, rulesOfKind(resource).complete?.(wanted) ?? wanted);
  checkChange(writer, place, { current, next });
  if (writer.isDryRun) return next;
  return keep(writer, resource, { current, next });
}

interface Step {
  readonly current: KubeObject;
  readonly next: KubeObject;
}

function checkChange({ cluster, user }: Writer, place: ChangePlace, { current, next }: Step): void {
  const { resource, subresource, name } = place;
  const givesRights =
    next['roleRef'] !== undefined || !isDeepStrictEqual(next['rules'], current['rules']);
  if (givesRights) checkEscalation({ user, authorizer: cluster.authorizer }, resource, next);
  const faults = [...finalizerFaults(current, next), ...changeFaults(resource, current, next)];
  if (faults.length > 0) throw invalid(kindOf(resource, name), faults);
  checkWrite(cluster, { operation: 'UPDATE', resource, subresource, name });
}

function keep({ cluster }: Writer, resource: Resource, { current, next }: Step): KubeObject {
  const key = storageKey(resource);
  if (next.metadata.deletionTimestamp !== undefined && !isHeld(resource, next)) {
    cluster.objects.remove(key, next);
    return next;
  }
  return isDeepStrictEqual(next, current) ? current : cluster.objects.put(key, next);
}

function checkPlace({ namespace, name }: ChangePlace, metadata: JsonObject): void {
  const given: Partial<ObjectMeta> = metadata;
  if (given.name !== undefined && given.name !== name) {
    throw badRequest(
      `the name of the object (${given.name}) does not match the name on the URL (${name})`,
    );
  }
  if (given.namespace !== undefined && given.namespace !== namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
}

function checkVersion(
  resource: Resource,
  metadata: JsonObject,
  { current, isWhole }: { readonly current: KubeObject; readonly isWhole: boolean },
): void {
  const { name, uid, resourceVersion } = current.metadata;
  const given: Partial<ObjectMeta> = metadata;
  const isOther = given.uid !== undefined && given.uid !== uid;
  const subject = subjectOf(resource, name);
  if (isOther && isWhole) {
    throw conflict(
      subject,
      `Precondition failed: UID in precondition: ${given.uid}, UID in object meta: ${uid}`,
    );
  }
  if (given.resourceVersion !== undefined && given.resourceVersion !== resourceVersion) {
    throw conflict(
      subject,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
  }
  if (isOther) {
    throw invalid(kindOf(resource, name), [
      invalidValue('metadata.uid', given.uid, 'field is immutable'),
    ]);
  }
}

/** What the request may change, from its body; all else as it was. */
function combined(place: ChangePlace, current: KubeObject, decoded: DecodedObject): KubeObject {
  const { resource, subresource } = place;
  const metadata = { ...ownMetadata(current), ...writableMetadata(decoded) } as ObjectMeta;
  if (subresource === 'status') {
    return withField({ ...current, metadata }, 'status', decoded);
  }
  if (subresource === 'finalize') {
    const finalizers = mapAt(decoded, 'spec')['finalizers'];
    const spec = { ...mapAt(current, 'spec'), ...(finalizers === undefined ? {} : { finalizers }) };
    return { ...current, spec: finalizers === undefined ? {} : spec };
  }
  const object = { ...decoded, metadata } as KubeObject;
  const whole = resource.hasStatus ? withField(object, 'status', current) : object;
  // A namespace's own finalizers change by `finalize` alone.
  return current.kind === 'Namespace' ? withField(whole, 'spec', current) : whole;
}

/** The object with a field as another has it, absent included. */
function withField(object: KubeObject, field: 'status' | 'spec', from: JsonObject): KubeObject {
  const { [field]: _, ...rest } = object;
  const value = from[field];
  return value === undefined ? rest : { ...rest, [field]: value };
}

const WRITABLE = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

function ownMetadata({ metadata }: KubeObject): JsonObject {
  return Object.fromEntries(
    Object.entries(metadata).filter(([field]) => !WRITABLE.some((name) => name === field)),
  );
}

function writableMetadata({ metadata }: DecodedObject): JsonObject {
  return Object.fromEntries(
    WRITABLE.filter((field) => metadata[field] !== undefined).map((field) => [
      field,
      metadata[field],
    ]),
  );
}

function counted(resource: Resource, current: KubeObject, next: KubeObject): KubeObject {
  const isSame = isDeepStrictEqual(countedPart(current), countedPart(next));
  if (!resource.hasGeneration || isSame) return next;
  const generation = (current.metadata.generation ?? 0) + 1;
  return { ...next, metadata: { ...next.metadata, generation } };
}

function countedPart({ metadata: _m, status: _s, ...rest }: KubeObject): JsonObject {
  return rest;
}

function finalizerFaults(current: KubeObject, next: KubeObject): readonly FieldCause[] {
  if (current.metadata.deletionTimestamp === undefined) return [];
  const before = current.metadata.finalizers ?? [];
  const fresh = (next.metadata.finalizers ?? []).filter((name) => !before.includes(name));
  if (fresh.length === 0) return [];
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(fresh)}`;
  return [forbiddenValue('metadata.finalizers', why)];
}

function changeFaults(
  resource: Resource,
  current: KubeObject,
  next: KubeObject,
): readonly FieldCause[] {
  return [
    ...metadataFaults(resource, next.metadata),
    ...(rulesOfKind(resource).faults?.(next, current) ?? []),
  ];
}
