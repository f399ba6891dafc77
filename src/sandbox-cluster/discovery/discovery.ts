// What a cluster knows, as clients ask for it: versions, groups, resources, each in the old form and, where the client
// names it, in the aggregated one, which spares kubectl a question a group.

import type { JsonObject } from '../api/kube-object.ts';
import { apiVersionOf, type Resource } from '../api/resource.ts';
import type { Resources } from './resources.ts';

export const AGGREGATED_TYPE =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export function wantsAggregated(accept: string): boolean {
  return accept
    .split(',')
    .some(
      (type) =>
        /as=APIGroupDiscoveryList/.test(type) && /;v=v2(;|$)/.test(type) && type.includes('json'),
    );
}

/** What `kubectl version` shows: as new as the API server that the tests compare with. */
export const VERSION: JsonObject = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.3+sandbox',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'sandbox',
};

export function coreVersions(address: string): JsonObject {
  const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress: address }];
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs };
}

export function groupList(resources: Resources): JsonObject {
  const groups = groupsOf(resources).map((group) => describedGroup(resources, group));
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** Undefined where there is no such group. */
export function groupOf(resources: Resources, group: string): JsonObject | undefined {
  if (!groupsOf(resources).includes(group)) return undefined;
  return { kind: 'APIGroup', apiVersion: 'v1', ...describedGroup(resources, group) };
}

/** Undefined where there is no such version. */
export function resourceList(resources: Resources, groupVersion: string): JsonObject | undefined {
  const found = resources.all().filter((resource) => apiVersionOf(resource) === groupVersion);
  if (found.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: found.flatMap((resource) => [
      describedResource(resource),
      ...subresourcesOf(resource).map((subresource) => ({
        name: `${resource.plural}/${subresource.name}`,
        singularName: '',
        namespaced: resource.isNamespaced,
        ...responseKind(subresource),
        verbs: subresource.verbs,
      })),
    ]),
  };
}

/** `core`: the group without a name, which lies below /api. */
export function aggregatedGroups(resources: Resources, which: 'core' | 'named'): JsonObject {
  const groups = which === 'core' ? [''] : groupsOf(resources);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map((group) => ({
      metadata:
        group === '' ? { creationTimestamp: null } : { name: group, creationTimestamp: null },
      versions: versionsOf(resources, group).map((version) => ({
        version,
        freshness: 'Current',
        resources: resources
          .all()
          .filter((resource) => resource.group === group && resource.version === version)
          .map(aggregatedResource),
      })),
    })),
  };
}

function groupsOf(resources: Resources): readonly string[] {
  return [...new Set(resources.all().map(({ group }) => group))].filter((group) => group !== '');
}

function versionsOf(resources: Resources, group: string): readonly string[] {
  const found = resources.all().filter((resource) => resource.group === group);
  return [...new Set(found.map(({ version }) => version))];
}

function describedGroup(resources: Resources, name: string): JsonObject {
  const versions = versionsOf(resources, name).map((version) => ({
    groupVersion: `${name}/${version}`,
    version,
  }));
  return {
    name,
    versions,
    ...(versions[0] === undefined ? {} : { preferredVersion: versions[0] }),
  };
}

function describedResource(resource: Resource): JsonObject {
  return {
    name: resource.plural,
    singularName: resource.singular,
    namespaced: resource.isNamespaced,
    kind: resource.kind,
    verbs: resource.verbs,
    ...(resource.shortNames.length === 0 ? {} : { shortNames: resource.shortNames }),
    ...(resource.categories.length === 0 ? {} : { categories: resource.categories }),
  };
}

function aggregatedResource(resource: Resource): JsonObject {
  const { group, version, kind } = resource;
  const subresources = subresourcesOf(resource);
  return {
    resource: resource.plural,
    responseKind: { group, version, kind },
    scope: resource.isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames.length === 0 ? {} : { shortNames: resource.shortNames }),
    ...(resource.categories.length === 0 ? {} : { categories: resource.categories }),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map((subresource) => ({
            subresource: subresource.name,
            responseKind: responseKind(subresource),
            verbs: subresource.verbs,
          })),
        }),
  };
}

interface Subresource {
  readonly name: string;
  readonly verbs: readonly string[];
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

function responseKind({ group, version, kind }: Subresource): JsonObject {
  return { group, version, kind };
}

function subresourcesOf({
  plural,
  group,
  version,
  kind,
  hasStatus,
}: Resource): readonly Subresource[] {
  const own = { group, version, kind };
  const token = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' };
  return [
    ...(hasStatus ? [{ name: 'status', verbs: ['get', 'patch', 'update'], ...own }] : []),
    ...(group === '' && plural === 'namespaces'
      ? [{ name: 'finalize', verbs: ['update'], ...own }]
      : []),
    ...(group === '' && plural === 'serviceaccounts'
      ? [{ name: 'token', verbs: ['create'], ...token }]
      : []),
  ];
}
