// The verbs of all resources that have objects: each is read from the request and handed to objects/.

import { isJsonObject, type JsonObject, type KubeObject } from '../api/kube-object.ts';
import { apiVersionOf, type Resource, storageKey, subjectOf } from '../api/resource.ts';
import {
  badRequest,
  forbidden,
  invalid,
  invalidValue,
  methodNotAllowed,
  notFound,
} from '../api/status.ts';
import { changeObject } from '../objects/change-object.ts';
import { createObject } from '../objects/create-object.ts';
import { checkDeleteOptions, deleteObject } from '../objects/delete-object.ts';
import { listObjects } from '../objects/list-objects.ts';
import type { Writer } from '../objects/writer.ts';
import { patchFor } from '../patches/apply-patch.ts';
import { type Answer, type ApiCall, whole, type WholeAnswer } from './answer.ts';
import { formWanted, metadataAlone, metadataList } from './metadata-alone.ts';
import { parseBody, readJsonBody, readOptions } from './read-body.ts';
import type { ResourceTarget } from './request-target.ts';
import { shown } from './shown.ts';
import { tableOf } from './table.ts';
import { watchObjects } from './watch.ts';

/** Where a request points, and the resource that lies there. */
export interface Aim {
  readonly target: ResourceTarget;
  readonly resource: Resource;
}

/** Throws a StatusError. */
export function answerForObjects(call: ApiCall, aim: Aim): Answer {
  const { target, resource } = aim;
  const { verb, isCollection } = target;
  if (!resource.verbs.includes(verb)) throw methodNotAllowed();
  switch (verb) {
    case 'list':
      return list(call, aim);
    case 'watch':
      return watchObjects(call, { resource, namespace: target.namespace, name: target.name });
    case 'get':
      return answerWith(call, aim, find(call, aim));
    case 'create':
      if (!isCollection) throw methodNotAllowed();
      return create(call, aim);
    case 'update':
      if (isCollection) throw methodNotAllowed();
      return update(call, aim);
    case 'patch':
      if (isCollection) throw methodNotAllowed();
      return patch(call, aim);
    case 'delete':
      return remove(call, aim);
    case 'deletecollection':
      return removeAll(call, aim);
    default:
      throw methodNotAllowed();
  }
}

/** Throws a 404. */
export function find({ cluster }: ApiCall, { resource, target }: Aim): KubeObject {
  const { name = '' } = target;
  const place = {
    resource: storageKey(resource),
    namespace: namespaceOf({ resource, target }),
    name,
  };
  const object = cluster.objects.get(place);
  if (object === undefined) throw notFound(subjectOf(resource, name));
  return object;
}

/** A namespace's path names one, but a namespace lies in none. */
function namespaceOf({ resource, target }: Aim): string | undefined {
  return resource.isNamespaced ? target.namespace : undefined;
}

function placeOf(aim: Aim): { resource: Resource; namespace: string | undefined; name: string } {
  return { resource: aim.resource, namespace: namespaceOf(aim), name: aim.target.name ?? '' };
}

export function answerWith(call: ApiCall, { resource }: Aim, object: KubeObject): WholeAnswer {
  const form = formWanted(call.accept);
  if (form === 'PartialObjectMetadata') return whole(metadataAlone(object));
  if (form !== 'Table') return whole(shown(object, apiVersionOf(resource)));
  const { resourceVersion } = object.metadata;
  return whole(table(call, resource, { objects: [object], metadata: { resourceVersion } }));
}

function created(answer: WholeAnswer): WholeAnswer {
  return { ...answer, status: 201 };
}

function table(
  call: ApiCall,
  resource: Resource,
  content: { readonly objects: readonly KubeObject[]; readonly metadata: JsonObject },
): JsonObject {
  const asked = call.query.get('includeObject');
  const include = asked === 'Object' || asked === 'None' ? asked : 'Metadata';
  return tableOf({ resource, ...content, now: call.cluster.clock(), include });
}

function list(call: ApiCall, aim: Aim): Answer {
  const { resource } = aim;
  const place = { resource, namespace: namespaceOf(aim) };
  const { items, metadata } = listObjects(call.cluster.objects, place, call.query);
  const form = formWanted(call.accept);
  if (form === 'Table') return whole(table(call, resource, { objects: items, metadata }));
  if (form === 'PartialObjectMetadataList') return whole(metadataList(items, metadata));
  return whole(listOf(resource, items, metadata));
}

function listOf(
  resource: Resource,
  items: readonly KubeObject[],
  metadata: JsonObject,
): JsonObject {
  const apiVersion = apiVersionOf(resource);
  return {
    kind: `${resource.kind}List`,
    apiVersion,
    metadata,
    // Custom kinds are named in each item; the others are known by the list.
    items: resource.isCustom ? items.map((item) => shown(item, apiVersion)) : items.map(untyped),
  };
}

function untyped({ kind: _k, apiVersion: _a, ...rest }: KubeObject): JsonObject {
  return rest;
}

function create(call: ApiCall, aim: Aim): Answer {
  const { resource } = aim;
  const place = { resource, namespace: namespaceOf(aim) };
  if (resource.isNamespaced && place.namespace === undefined) throw methodNotAllowed();
  const body = readJsonBody(call);
  return created(answerWith(call, aim, createObject(writerOf(call), place, body)));
}

function update(call: ApiCall, aim: Aim): Answer {
  const body = readJsonBody(call);
  const { resource, target } = aim;
  const place = placeOf(aim);
  const isThere = call.cluster.objects.get({ ...place, resource: storageKey(resource) });
  if (isThere !== undefined || !resource.createsOnUpdate || target.subresource !== undefined) {
    return change(call, aim, { next: () => body, isWhole: true });
  }
  checkName(body, aim);
  const may = call.cluster.authorizer.decide(call.user, { ...target, verb: 'create' });
  if (!may.isAllowed) {
    const who = JSON.stringify(call.user.username);
    throw forbidden(subjectOf(resource, target.name), `User ${who} cannot create it`);
  }
  return created(answerWith(call, aim, createObject(writerOf(call), place, body)));
}

function checkName(body: unknown, { target }: Aim): void {
  const metadata = isJsonObject(body) ? body['metadata'] : undefined;
  if (isJsonObject(metadata) && metadata['name'] === target.name) return;
  throw badRequest(`the name of the object does not match the name on the URL (${target.name})`);
}

function patch(call: ApiCall, aim: Aim): Answer {
  const apply = patchFor(aim.resource, call.contentType);
  const body = parseBody(call.body);
  return change(call, aim, { next: (current) => apply(current, body), isWhole: false });
}

function change(
  call: ApiCall,
  aim: Aim,
  order: { readonly next: (current: KubeObject) => unknown; readonly isWhole: boolean },
): Answer {
  const { subresource } = aim.target;
  const place = {
    ...placeOf(aim),
    subresource: subresource === 'status' || subresource === 'finalize' ? subresource : undefined,
  } as const;
  return answerWith(call, aim, changeObject(writerOf(call), place, order));
}

function remove(call: ApiCall, aim: Aim): Answer {
  const { resource, target } = aim;
  const options = readOptions(call);
  checkDeleteOptions(options);
  const { object, isGone } = deleteObject(writerOf(call, options), placeOf(aim), options);
  if (!isGone || resource.answersWithDeleted) return answerWith(call, aim, object);
  return whole({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...subjectDetails(resource, target.name), uid: object.metadata.uid },
  });
}

function subjectDetails({ group, plural }: Resource, name = ''): JsonObject {
  return { name, ...(group === '' ? {} : { group }), kind: plural };
}

function removeAll(call: ApiCall, aim: Aim): Answer {
  const { resource } = aim;
  const options = readOptions(call);
  checkDeleteOptions(options);
  const namespace = namespaceOf(aim);
  if (resource.isNamespaced && namespace === undefined) throw methodNotAllowed();
  const { items, metadata } = listObjects(
    call.cluster.objects,
    { resource, namespace },
    call.query,
  );
  const { preconditions: _, ...each } = options;
  const writer = writerOf(call, options);
  for (const { metadata: one } of items) {
    deleteObject(writer, { resource, namespace, name: one.name }, each);
  }
  return whole(listOf(resource, items, metadata));
}

const OPTIONS_OF: Readonly<Record<string, string>> = {
  POST: 'Create',
  PUT: 'Update',
  PATCH: 'Patch',
};

function writerOf({ cluster, user, query, method }: ApiCall, options: JsonObject = {}): Writer {
  const asked = [...query.getAll('dryRun'), ...[options['dryRun'] ?? []].flat()];
  if (asked.some((value) => value !== 'All')) {
    const kind = `${OPTIONS_OF[method] ?? 'Delete'}Options`;
    throw invalid({ kind, group: 'meta.k8s.io' }, [
      invalidValue('dryRun', asked, 'supported values: "All"'),
    ]);
  }
  return { cluster, user, isDryRun: asked.length > 0 };
}
