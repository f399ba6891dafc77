// Chooses the form of a patch by its content type. Server-side apply is not known here: it is refused by 415, as is
// every form that a resource does not bear.

import { isJsonObject, type JsonObject, type KubeObject } from '../api/kube-object.ts';
import type { Resource } from '../api/resource.ts';
import { badRequest, unsupportedMediaType } from '../api/status.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';

/** Known before the body is read; throws a 415. */
export function patchFor(
  resource: Resource,
  contentType: string,
): (object: KubeObject, patch: unknown) => JsonObject {
  if (contentType === JSON_PATCH) return applyJsonPatch;
  if (contentType === MERGE_PATCH) {
    return (object, patch) => applyMergePatch(object, requireMap(patch));
  }
  // Without Go types there is nothing that says by which key a list is merged.
  if (contentType === STRATEGIC_MERGE_PATCH && !resource.isCustom) {
    return (object, patch) => applyStrategicMergePatch(object, requireMap(patch));
  }
  const accepted = [JSON_PATCH, MERGE_PATCH];
  throw unsupportedMediaType(resource.isCustom ? accepted : [...accepted, STRATEGIC_MERGE_PATCH]);
}

function requireMap(patch: unknown): JsonObject {
  if (!isJsonObject(patch)) throw badRequest('the patch is no JSON object');
  return patch;
}
