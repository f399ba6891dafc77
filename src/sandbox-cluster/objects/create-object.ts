// Makes an object: what the body says, what the cluster gives, and the checks in the order of a real API server, since
// whoever reads a refusal sees the first.

import {
  type JsonObject,
  type KubeObject,
  kubeTime,
  type ObjectMeta,
  textAt,
} from '../api/kube-object.ts';
import { kindOf, type Resource, storageKey, subjectOf } from '../api/resource.ts';
import {
  alreadyExists,
  badRequest,
  type FieldCause,
  forbidden,
  internalError,
  invalid,
  notFound,
  requiredValue,
} from '../api/status.ts';
import type { Cluster } from '../cluster.ts';
import { isTerminating, NAMESPACES } from '../kinds/namespaces.ts';
import { rulesOfKind } from '../kinds/rules-of-kind.ts';
import { checkEscalation } from '../rbac/escalation.ts';
import { type DecodedObject, decodeObject } from './decode.ts';
import { metadataFaults } from './metadata-rules.ts';
import { checkWrite, type Writer } from './writer.ts';

export interface CollectionPlace {
  readonly resource: Resource;
  /** Absent for resources without one. */
  readonly namespace?: string | undefined;
}

/** Throws a StatusError; then nothing was made. */
export function createObject(writer: Writer, place: CollectionPlace, body: unknown): KubeObject {
  const { cluster } = writer;
  const { resource, namespace } = place;
  const decoded = decodeObject(resource, body);
  checkNamespaceOfBody(decoded, namespace);
  checkNamespace(cluster, place, decoded);
  const rules = rulesOfKind(resource);
  const bare = begun(cluster, place, decoded);
  const completed = rules.complete?.(bare) ?? bare;
  const object = rules.begin?.(completed) ?? completed;
  checkEscalation({ user: writer.user, authorizer: cluster.authorizer }, resource, object);
  refuseFaults(resource, object, faultsOf(resource, object));
  const { name } = object.metadata;
  checkWrite(cluster, { operation: 'CREATE', resource, name });
  if (textAt(decoded.metadata, 'resourceVersion') !== undefined) {
    throw internalError('resourceVersion should not be set on objects to be created');
  }
  const key = storageKey(resource);
  if (cluster.objects.get({ resource: key, namespace, name }) !== undefined) {
    throw alreadyExists(subjectOf(resource, name));
  }
  return writer.isDryRun ? object : cluster.objects.put(key, object);
}

function checkNamespaceOfBody(decoded: DecodedObject, namespace: string | undefined): void {
  const given = textAt(decoded.metadata, 'namespace');
  if (given === undefined || given === namespace) return;
  throw badRequest(
    'the namespace of the provided object does not match the namespace sent on the request',
  );
}

function checkNamespace(cluster: Cluster, place: CollectionPlace, decoded: DecodedObject): void {
  const { resource, namespace } = place;
  if (namespace === undefined) return;
  const found = cluster.objects.get({ resource: NAMESPACES, name: namespace });
  if (found === undefined) throw notFound({ kind: 'namespaces', group: '', name: namespace });
  if (!isTerminating(found)) return;
  const name = textAt(decoded.metadata, 'name');
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbidden(subjectOf(resource, name), why, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ]);
}

/** As many as Kubernetes adds. */
const GENERATED_LETTERS = 5;

function begun(cluster: Cluster, place: CollectionPlace, decoded: DecodedObject): KubeObject {
  const { resource, namespace } = place;
  const given: Partial<ObjectMeta> = decoded.metadata;
  const { generateName } = given;
  const generated =
    generateName === undefined ? '' : generateName + cluster.draw.letters(GENERATED_LETTERS);
  const metadata: ObjectMeta = {
    ...withoutGiven(decoded.metadata),
    name: given.name ?? generated,
    ...(namespace === undefined ? {} : { namespace }),
    uid: cluster.draw.uuid(),
    // Comes when the object is kept.
    resourceVersion: '',
    ...(resource.hasGeneration ? { generation: 1 } : {}),
    creationTimestamp: kubeTime(cluster.clock()),
  };
  const { status, ...rest } = decoded;
  // What has a status of its own gets it by another request.
  const object = resource.hasStatus || status === undefined ? rest : { ...rest, status };
  return { ...object, metadata };
}

/** What a body may say of metadata; all else is the cluster's to give. */
const OF_BODY = ['generateName', 'labels', 'annotations', 'finalizers', 'ownerReferences'];

function withoutGiven(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([field]) => OF_BODY.includes(field)));
}

function faultsOf(resource: Resource, object: KubeObject): readonly FieldCause[] {
  if (object.metadata.name === '') {
    return [requiredValue('metadata.name', 'name or generateName is required')];
  }
  return [
    ...metadataFaults(resource, object.metadata),
    ...(rulesOfKind(resource).faults?.(object, undefined) ?? []),
  ];
}

function refuseFaults(resource: Resource, object: KubeObject, faults: readonly FieldCause[]): void {
  if (faults.length > 0) throw invalid(kindOf(resource, object.metadata.name), faults);
}
