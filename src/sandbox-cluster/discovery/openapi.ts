// OpenAPI as far as kubectl needs it: that every kind exists, has any fields, and is validated here, not there.

import type { JsonObject } from '../api/kube-object.ts';
import { apiVersionOf, type Resource } from '../api/resource.ts';
import type { Resources } from './resources.ts';

const INFO = { title: 'Kubernetes', version: 'v1.36.3' };

/** The index of version 3. */
export function openApiIndex(resources: Resources): JsonObject {
  const paths = resources.groupVersions().map((groupVersion) => {
    const path = groupVersion.includes('/') ? `apis/${groupVersion}` : `api/${groupVersion}`;
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=sandbox` }] as const;
  });
  return { paths: Object.fromEntries(paths) };
}

/** Of version 3; undefined where there is no such group and version. `path` as in the index. */
export function openApiOf(resources: Resources, path: string): JsonObject | undefined {
  const groupVersion = path.replace(/^apis?\//, '');
  const found = resources.all().filter((resource) => apiVersionOf(resource) === groupVersion);
  if (found.length === 0) return undefined;
  return {
    openapi: '3.0.0',
    info: INFO,
    paths: Object.fromEntries(
      found.map((resource) => [`/${path}/${placeOf(resource)}`, operations(resource)]),
    ),
    components: {
      schemas: Object.fromEntries(
        found.map((resource) => [schemaName(resource), schema(resource)]),
      ),
    },
  };
}

/** Of version 2, for clients that know no other. */
export function openApiV2(resources: Resources): JsonObject {
  const definitions = resources.all().map((resource) => [schemaName(resource), schema(resource)]);
  return {
    swagger: '2.0',
    info: INFO,
    paths: {},
    definitions: Object.fromEntries(definitions) as JsonObject,
  };
}

export const OPENAPI_V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/**
 * The form of version 2 that kubectl reads before it applies a list, as bytes that are all ASCII: a Document with its
 * version and Info, without definitions. What has no definition is not validated there.
 */
export function openApiV2Protobuf(): string {
  const info = protobufText(1, INFO.title) + protobufText(2, INFO.version);
  return protobufText(1, '2.0') + protobufText(2, info);
}

/** A length-delimited field; number and length below 16 and 128. */
function protobufText(number: number, text: string): string {
  return String.fromCodePoint((number << 3) | 2, text.length) + text;
}

function placeOf({ isNamespaced, plural }: Resource): string {
  return isNamespaced ? `namespaces/{namespace}/${plural}/{name}` : `${plural}/{name}`;
}

/** kubectl looks here for `fieldValidation`; where it finds it, it leaves validation to the server. */
function operations(resource: Resource): JsonObject {
  const parameter = { name: 'fieldValidation', in: 'query', schema: { type: 'string' } };
  return {
    patch: {
      parameters: [parameter],
      'x-kubernetes-group-version-kind': kindOf(resource),
      responses: {},
    },
  };
}

function schema(resource: Resource): JsonObject {
  return {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    'x-kubernetes-group-version-kind': [kindOf(resource)],
  };
}

function kindOf({ group, version, kind }: Resource): JsonObject {
  return { group, version, kind };
}

function schemaName({ group, version, kind }: Resource): string {
  return `sandbox.${group === '' ? 'core' : group}.${version}.${kind}`;
}
