// Label and field selectors of lists and watches.

import { isJsonObject, type JsonValue, type KubeObject } from '../api/kube-object.ts';
import { storageKey, type Resource } from '../api/resource.ts';
import { badRequest } from '../api/status.ts';

export type Filter = (object: KubeObject) => boolean;

export interface Selection {
  readonly matches: Filter;
  /** The one name that `metadata.name=…` selects; RBAC looks at it. */
  readonly name?: string;
  readonly isEverything: boolean;
}

/** Throws a 400 where a selector cannot be read. */
export function readSelection(resource: Resource, query: URLSearchParams): Selection {
  const labels = query.get('labelSelector') ?? '';
  const fields = query.get('fieldSelector') ?? '';
  const filters = [...readLabelSelector(labels), ...readFieldSelector(resource, fields)];
  const name = nameSelected(fields);
  return {
    matches: (object) => filters.every((filter) => filter(object)),
    isEverything: filters.length === 0,
    ...(name === undefined ? {} : { name }),
  };
}

/** Undefined where a field selector names none. */
export function nameSelected(fieldSelector: string): string | undefined {
  return /(?:^|,)metadata\.name==?([^,]+)(?:,|$)/.exec(fieldSelector)?.[1];
}

const KEY = String.raw`(?:[A-Za-z0-9.-]+/)?[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?`;
const VALUE = String.raw`[A-Za-z0-9_.-]*`;
const SET = new RegExp(String.raw`^(${KEY})\s+(in|notin)\s*\(([^()]*)\)$`);
const COMPARISON = new RegExp(String.raw`^(${KEY})\s*(=|==|!=)\s*(${VALUE})$`);
const EXISTENCE = new RegExp(String.raw`^(!?)\s*(${KEY})$`);

function readLabelSelector(text: string): readonly Filter[] {
  if (text.trim() === '') return [];
  // A comma inside parentheses separates values.
  return text.split(/,(?![^()]*\))/).map((part) => readRequirement(part.trim()));
}

function readRequirement(part: string): Filter {
  const set = SET.exec(part);
  if (set !== null) {
    const [, key = '', operator, list = ''] = set;
    const values = list.split(',').map((value) => value.trim());
    return operator === 'in'
      ? (object) => values.includes(labelOf(object, key) ?? '\0')
      : (object) => !values.includes(labelOf(object, key) ?? '\0');
  }
  const comparison = COMPARISON.exec(part);
  if (comparison !== null) {
    const [, key = '', operator, value] = comparison;
    return operator === '!='
      ? (object) => labelOf(object, key) !== value
      : (object) => labelOf(object, key) === value;
  }
  const existence = EXISTENCE.exec(part);
  if (existence === null) throw badRequest(`unable to parse requirement: ${JSON.stringify(part)}`);
  const [, negation, key = ''] = existence;
  return (object) => (labelOf(object, key) === undefined) === (negation === '!');
}

function labelOf({ metadata }: KubeObject, key: string): string | undefined {
  return metadata.labels?.[key];
}

const FIELDS_OF_ALL = ['metadata.name', 'metadata.namespace'];

/** Beyond the two of all; other fields are refused, as a real API server does. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '/events': [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'type',
  ],
  '/namespaces': ['status.phase'],
  '/nodes': ['spec.unschedulable'],
  '/pods': [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  '/secrets': ['type'],
  '/services': ['spec.clusterIP', 'spec.type'],
};

function readFieldSelector(resource: Resource, text: string): readonly Filter[] {
  const known = [...FIELDS_OF_ALL, ...(FIELDS[storageKey(resource)] ?? [])];
  return text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [, field = '', operator, value = ''] = /^([^=!]+)(==|=|!=)(.*)$/.exec(part) ?? [];
      if (operator === undefined) {
        throw badRequest(`invalid selector: '${part}'; can't understand it`);
      }
      if (!known.includes(field)) {
        const names = known.map((name) => JSON.stringify(name)).join(', ');
        throw badRequest(`${JSON.stringify(field)} is not a known field selector: only ${names}`);
      }
      const wanted = operator !== '!=';
      return (object) => (fieldOf(object, field) === value) === wanted;
    });
}

/** Absent is the same as empty. */
function fieldOf(object: KubeObject, path: string): string {
  let value: JsonValue | undefined = object;
  for (const step of path.split('.')) value = isJsonObject(value) ? value[step] : undefined;
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : '';
}
