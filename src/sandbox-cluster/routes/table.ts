// Objects as rows, for people: what kubectl get prints. Each kind has its name and age; a few have more.

import {
  type JsonObject,
  type JsonValue,
  type KubeObject,
  mapAt,
  mapsAt,
  textAt,
} from '../api/kube-object.ts';
import { storageKey, type Resource } from '../api/resource.ts';
import { metadataAlone } from './metadata-alone.ts';

interface Column {
  readonly name: string;
  readonly cell: (object: KubeObject, now: Date) => JsonValue;
}

const NAME: Column = { name: 'Name', cell: ({ metadata }) => metadata.name };

const AGE: Column = {
  name: 'Age',
  cell: ({ metadata }, now) => ageOf(metadata.creationTimestamp, now),
};

const CREATED_AT: Column = {
  name: 'Created At',
  cell: ({ metadata }) => metadata.creationTimestamp,
};

const DATA: Column = {
  name: 'Data',
  cell: (object) =>
    Object.keys(mapAt(object, 'data')).length + Object.keys(mapAt(object, 'binaryData')).length,
};

const ROLE: Column = {
  name: 'Role',
  cell(object) {
    const roleRef = mapAt(object, 'roleRef');
    return `${textAt(roleRef, 'kind')}/${textAt(roleRef, 'name')}`;
  },
};

function status(name: string, field: string): Column {
  return { name, cell: (object) => textAt(mapAt(object, 'status'), field) ?? '' };
}

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  '/configmaps': [NAME, DATA, AGE],
  '/events': [
    { name: 'Last Seen', cell: (object, now) => ageOf(textAt(object, 'lastTimestamp') ?? '', now) },
    { name: 'Type', cell: (object) => textAt(object, 'type') ?? '' },
    { name: 'Reason', cell: (object) => textAt(object, 'reason') ?? '' },
    { name: 'Object', cell: (object) => involved(mapAt(object, 'involvedObject')) },
    { name: 'Message', cell: (object) => textAt(object, 'message') ?? '' },
  ],
  '/namespaces': [NAME, status('Status', 'phase'), AGE],
  '/pods': [
    NAME,
    { name: 'Ready', cell: (object) => `0/${mapsAt(mapAt(object, 'spec'), 'containers').length}` },
    status('Status', 'phase'),
    { name: 'Restarts', cell: () => '0' },
    AGE,
  ],
  '/secrets': [NAME, { name: 'Type', cell: (object) => textAt(object, 'type') ?? '' }, DATA, AGE],
  'apiextensions.k8s.io/customresourcedefinitions': [NAME, CREATED_AT],
  'rbac.authorization.k8s.io/clusterroles': [NAME, CREATED_AT],
  'rbac.authorization.k8s.io/roles': [NAME, CREATED_AT],
  'rbac.authorization.k8s.io/clusterrolebindings': [NAME, ROLE, AGE],
  'rbac.authorization.k8s.io/rolebindings': [NAME, ROLE, AGE],
};

export interface TableOrder {
  readonly resource: Resource;
  readonly objects: readonly KubeObject[];
  readonly metadata: JsonObject;
  readonly now: Date;
  /** What each row carries of its object: `includeObject` of the query. */
  readonly include: 'None' | 'Metadata' | 'Object';
}

export function tableOf(order: TableOrder): JsonObject {
  const columns = COLUMNS[storageKey(order.resource)] ?? [NAME, AGE];
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: order.metadata,
    columnDefinitions: columns.map(({ name }) => ({
      name,
      type: 'string',
      format: name === 'Name' ? 'name' : '',
      description: '',
      priority: 0,
    })),
    rows: order.objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, order.now)),
      ...(order.include === 'None' ? {} : { object: rowObject(object, order.include) }),
    })),
  };
}

function rowObject(object: KubeObject, include: 'Metadata' | 'Object'): JsonObject {
  return include === 'Object' ? object : metadataAlone(object);
}

function involved(reference: JsonObject): string {
  return `${(textAt(reference, 'kind') ?? '').toLowerCase()}/${textAt(reference, 'name')}`;
}

const UNITS = [
  { letter: 'd', seconds: 86_400 },
  { letter: 'h', seconds: 3_600 },
  { letter: 'm', seconds: 60 },
];

/** As people read it: `35s`, `12m`, `3h`, `40d`; of two units the larger until there are two of it. */
function ageOf(since: string, now: Date): string {
  const seconds = Math.floor((now.getTime() - Date.parse(since)) / 1_000);
  if (Number.isNaN(seconds)) return '<unknown>';
  const unit = UNITS.find((candidate) => seconds >= 2 * candidate.seconds);
  return unit === undefined
    ? `${Math.max(seconds, 0)}s`
    : `${Math.floor(seconds / unit.seconds)}${unit.letter}`;
}
