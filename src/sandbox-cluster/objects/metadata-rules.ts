// The rules of metadata that hold for every kind: names, labels, annotations, finalizers.

import { isJsonObject, type JsonObject, type ObjectMeta } from '../api/kube-object.ts';
import type { NameForm, Resource } from '../api/resource.ts';
import { badRequest, type FieldCause, invalidValue } from '../api/status.ts';

const MAX_SUBDOMAIN = 253;
const MAX_LABEL = 63;
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const QUALIFIED_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const QUALIFIED_NAME_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/** Why a name of that form is refused; undefined where it is not. */
function nameFault(name: string, form: NameForm): string | undefined {
  switch (form) {
    case 'path-segment':
      return pathSegmentFault(name);
    case 'label':
      if (name.includes('.')) return 'must not contain dots';
      if (name.length > MAX_LABEL) return `must be no more than ${MAX_LABEL} bytes`;
      return LABEL.test(name) ? undefined : LABEL_RULE;
    case 'subdomain':
      if (name.length > MAX_SUBDOMAIN) return `must be no more than ${MAX_SUBDOMAIN} bytes`;
      return SUBDOMAIN.test(name) ? undefined : SUBDOMAIN_RULE;
  }
}

function pathSegmentFault(name: string): string | undefined {
  if (name === '.' || name === '..') return `may not be '${name}'`;
  const refused = /[/%]/.exec(name)?.[0];
  return refused === undefined ? undefined : `may not contain '${refused}'`;
}

/** A name must be there. */
export function metadataFaults(resource: Resource, metadata: ObjectMeta): readonly FieldCause[] {
  const why = nameFault(metadata.name, resource.nameForm);
  return [
    ...(why === undefined ? [] : [invalidValue('metadata.name', metadata.name, why)]),
    ...labelFaults(metadata.labels ?? {}),
    ...annotationFaults(metadata.annotations ?? {}),
    ...(metadata.finalizers ?? []).flatMap(finalizerFaults),
  ];
}

function labelFaults(labels: Readonly<Record<string, string>>): readonly FieldCause[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedNameFaults('metadata.labels', key),
    ...(value.length > MAX_LABEL
      ? [invalidValue('metadata.labels', value, `must be no more than ${MAX_LABEL} bytes`)]
      : []),
    ...(LABEL_VALUE.test(value) ? [] : [invalidValue('metadata.labels', value, LABEL_VALUE_RULE)]),
  ]);
}

function annotationFaults(annotations: Readonly<Record<string, string>>): readonly FieldCause[] {
  const entries = Object.entries(annotations);
  const bytes = entries.reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0);
  return [
    ...entries.flatMap(([key]) => qualifiedNameFaults('metadata.annotations', key.toLowerCase())),
    ...(bytes > MAX_ANNOTATIONS_BYTES
      ? [
          invalidValue(
            'metadata.annotations',
            '',
            `may not be more than ${MAX_ANNOTATIONS_BYTES} bytes`,
          ),
        ]
      : []),
  ];
}

/** The finalizers that Kubernetes knows without a domain. */
const PLAIN_FINALIZERS = ['orphan', 'foregroundDeletion', 'kubernetes'];

function finalizerFaults(finalizer: string): readonly FieldCause[] {
  const field = 'metadata.finalizers';
  const faults = qualifiedNameFaults(field, finalizer);
  if (faults.length > 0 || finalizer.includes('/') || PLAIN_FINALIZERS.includes(finalizer)) {
    return faults;
  }
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  return [invalidValue(field, finalizer, why)];
}

function qualifiedNameFaults(field: string, key: string): readonly FieldCause[] {
  const parts = key.split('/');
  const name = parts.pop() ?? '';
  const [prefix] = parts;
  const isSound =
    parts.length <= 1 &&
    (prefix === undefined || (SUBDOMAIN.test(prefix) && prefix.length <= MAX_SUBDOMAIN)) &&
    name.length <= MAX_LABEL &&
    QUALIFIED_NAME.test(name);
  return isSound ? [] : [invalidValue(field, key, QUALIFIED_NAME_RULE)];
}

/** Throws a 400 where a field of metadata is of another type than the API has it. */
export function checkMetadataTypes(kind: string, metadata: JsonObject): void {
  const isText = (value: unknown): boolean => typeof value === 'string';
  const checks: readonly (readonly [string, (value: unknown) => boolean])[] = [
    ...TEXT_FIELDS.map((field) => [field, isText] as const),
    ['labels', isTextMap],
    ['annotations', isTextMap],
    ['finalizers', (value) => Array.isArray(value) && value.every(isText)],
  ];
  for (const [field, isRight] of checks) {
    const value = metadata[field];
    if (value === undefined || isRight(value)) continue;
    throw badRequest(
      `${kind} cannot be handled: metadata.${field} has a value of another type than it is to have`,
    );
  }
}

const TEXT_FIELDS = ['name', 'generateName', 'namespace', 'uid', 'resourceVersion'];

function isTextMap(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((entry) => typeof entry === 'string');
}
