// Deletes an object, or marks it as being deleted where something holds it.

import { type JsonObject, type KubeObject, kubeTime, mapAt, textAt } from '../api/kube-object.ts';
import { kindOf, type Resource, storageKey, subjectOf } from '../api/resource.ts';
import { badRequest, conflict, forbidden, notFound } from '../api/status.ts';
import type { Cluster } from '../cluster.ts';
import { rulesOfKind } from '../kinds/rules-of-kind.ts';
import { checkWrite, type Writer } from './writer.ts';

export interface DeletionPlace {
  readonly resource: Resource;
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface Deletion {
  /** As it is now, or was last. */
  readonly object: KubeObject;
  readonly isGone: boolean;
}

/** `options` is the body's DeleteOptions. Throws a StatusError; then nothing has changed. */
export function deleteObject(writer: Writer, place: DeletionPlace, options: JsonObject): Deletion {
  const { resource, namespace, name } = place;
  const { cluster, isDryRun } = writer;
  const kept = rulesOfKind(resource).keptBecause?.(name);
  if (kept !== undefined) throw forbidden(subjectOf(resource, name), kept);
  const object = cluster.objects.get({ resource: storageKey(resource), namespace, name });
  if (object === undefined) throw notFound(subjectOf(resource, name));
  checkPreconditions(resource, object, options);
  checkWrite(cluster, { operation: 'DELETE', resource, name });
  return endObject(cluster, { resource, object, isDryRun });
}

/** Without asking whether it may be. A repeat changes nothing. */
export function endObject(
  cluster: Cluster,
  what: { readonly resource: Resource; readonly object: KubeObject; readonly isDryRun?: boolean },
): Deletion {
  const { resource, object, isDryRun = false } = what;
  const key = storageKey(resource);
  if (!isHeld(resource, object)) {
    if (!isDryRun) cluster.objects.remove(key, object);
    return { object, isGone: true };
  }
  if (object.metadata.deletionTimestamp !== undefined) return { object, isGone: false };
  const marked: KubeObject = {
    ...object,
    metadata: {
      ...object.metadata,
      deletionTimestamp: kubeTime(cluster.clock()),
      ...(object.kind === 'Namespace' ? {} : { deletionGracePeriodSeconds: 0 }),
    },
  };
  const ending = rulesOfKind(resource).whileDeleted?.(marked) ?? marked;
  return { object: isDryRun ? ending : cluster.objects.put(key, ending), isGone: false };
}

export function isHeld(resource: Resource, object: KubeObject): boolean {
  const holds = rulesOfKind(resource).isHeld;
  return (object.metadata.finalizers ?? []).length > 0 || (holds?.(object) ?? false);
}

function checkPreconditions(resource: Resource, object: KubeObject, options: JsonObject): void {
  const { name, uid, resourceVersion } = object.metadata;
  const wanted = mapAt(options, 'preconditions');
  const subject = kindOf(resource, name);
  const wantedUid = textAt(wanted, 'uid');
  if (wantedUid !== undefined && wantedUid !== uid) {
    throw conflict(
      subject,
      `the UID in the precondition (${wantedUid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  const wantedVersion = textAt(wanted, 'resourceVersion');
  if (wantedVersion !== undefined && wantedVersion !== resourceVersion) {
    throw conflict(
      subject,
      `the ResourceVersion in the precondition (${wantedVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

/** Throws a 400 where the body is something else. */
export function checkDeleteOptions(options: JsonObject): void {
  const kind = textAt(options, 'kind') ?? 'DeleteOptions';
  if (kind !== 'DeleteOptions') {
    throw badRequest(`${kind} cannot be handled as a DeleteOptions`);
  }
}
