// Reads the object out of a request's body: its kind, its metadata as far as all kinds have the same.

import { isJsonObject, type JsonObject, mapAt, textAt, withoutNulls } from '../api/kube-object.ts';
import { apiVersionOf, type Resource } from '../api/resource.ts';
import { badRequest } from '../api/status.ts';
import { checkMetadataTypes } from './metadata-rules.ts';

/** An object that is to be written: its metadata may lack what the cluster gives. */
export interface DecodedObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject;
}

/** Kind and version may be left out, as they are in a path. Throws a 400. */
export function decodeObject(
  resource: Pick<Resource, 'group' | 'version' | 'kind'>,
  body: unknown,
): DecodedObject {
  if (!isJsonObject(body)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${resource.kind})`);
  }
  const apiVersion = apiVersionOf(resource);
  const { kind } = resource;
  const given = { kind: textAt(body, 'kind') ?? '', version: textAt(body, 'apiVersion') ?? '' };
  if ((given.kind !== '' && given.kind !== kind) || ![apiVersion, ''].includes(given.version)) {
    throw badRequest(
      `${given.kind || kind} in version "${given.version || apiVersion}" cannot be handled as a ${kind}`,
    );
  }
  const { kind: _k, apiVersion: _a, ...rest } = withoutNulls(body);
  const metadata = withoutEmpty(mapAt(rest, 'metadata'));
  checkMetadataTypes(kind, metadata);
  return { kind, apiVersion, ...rest, metadata };
}

/** Ours to give, or not kept here. */
const DROPPED = new Set(['managedFields', 'selfLink']);

function withoutEmpty(metadata: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(metadata).filter(([field, value]) => !DROPPED.has(field) && !isEmpty(value)),
  );
}

function isEmpty(value: unknown): boolean {
  if (value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
