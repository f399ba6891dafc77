// CustomResourceDefinitions: they are established at once, and describe the resources that a cluster then knows.
// Schemas, conversion and further columns are not looked at.

import {
  type JsonObject,
  type KubeObject,
  kubeTime,
  mapAt,
  mapsAt,
  textAt,
  textsAt,
} from '../api/kube-object.ts';
import { type FieldCause, invalidValue, requiredValue } from '../api/status.ts';
import type { KindRules } from './kind-rules.ts';

export const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions';

export const DEFINITION_RULES: KindRules = {
  complete(object) {
    const spec = mapAt(object, 'spec');
    const names = mapAt(spec, 'names');
    const kind = textAt(names, 'kind') ?? '';
    const completed = {
      listKind: `${kind}List`,
      singular: kind.toLowerCase(),
      ...names,
    };
    return {
      ...object,
      spec: { conversion: { strategy: 'None' }, ...spec, names: completed },
      status: statusOf(object, completed),
    };
  },
  faults(object) {
    const spec = mapAt(object, 'spec');
    const names = mapAt(spec, 'names');
    const expected = `${textAt(names, 'plural')}.${textAt(spec, 'group')}`;
    return [
      ...missing(spec, 'spec', ['group', 'scope']),
      ...missing(names, 'spec.names', ['plural', 'kind']),
      ...versionFaults(spec),
      ...(object.metadata.name === expected
        ? []
        : [
            invalidValue(
              'metadata.name',
              object.metadata.name,
              'must be spec.names.plural+"."+spec.group',
            ),
          ]),
    ];
  },
};

function missing(map: JsonObject, path: string, fields: readonly string[]): readonly FieldCause[] {
  return fields
    .filter((field) => (textAt(map, field) ?? '') === '')
    .map((field) => requiredValue(`${path}.${field}`));
}

function versionFaults(spec: JsonObject): readonly FieldCause[] {
  const versions = mapsAt(spec, 'versions');
  const stored = versions.filter((version) => version['storage'] === true);
  if (stored.length === 1) return [];
  const names = versions.map((version) => textAt(version, 'name') ?? '');
  return [
    invalidValue('spec.versions', names, 'must have exactly one version marked as storage version'),
  ];
}

function statusOf(object: KubeObject, names: JsonObject): JsonObject {
  const old = mapAt(object, 'status');
  const since = object.metadata.creationTimestamp || kubeTime(new Date(0));
  const condition = (type: string, reason: string): JsonObject => ({
    type,
    status: 'True',
    reason,
    message: '',
    lastTransitionTime: since,
  });
  const version = mapsAt(mapAt(object, 'spec'), 'versions')
    .filter((candidate) => candidate['storage'] === true)
    .map((candidate) => textAt(candidate, 'name') ?? '');
  return {
    ...old,
    acceptedNames: names,
    conditions: [
      condition('NamesAccepted', 'NoConflicts'),
      condition('Established', 'InitialNamesAccepted'),
    ],
    storedVersions: [...new Set([...textsAt(old, 'storedVersions'), ...version])],
  };
}
