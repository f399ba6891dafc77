// What a cluster's controllers do, as far as people would miss it: namespaces end, each gets its default account,
// roles collect the rules of others, a definition takes its objects with it. Each looks at the whole after a change.

import { type KubeObject, kubeTime, mapAt, textAt } from '../api/kube-object.ts';
import { storageKey } from '../api/resource.ts';
import type { Cluster } from '../cluster.ts';
import { DEFINITIONS } from '../kinds/custom-resource-definitions.ts';
import { isTerminating, NAMESPACES } from '../kinds/namespaces.ts';
import { endObject } from '../objects/delete-object.ts';
import { aggregateRoles, concernsAggregation } from '../rbac/aggregation.ts';
import { CLUSTER_ROLES } from '../rbac/rbac-resources.ts';

const SERVICE_ACCOUNTS = '/serviceaccounts';

/** Acts once at the start, then soon after each change that matters. @returns what stops it */
export function runControllers(cluster: Cluster): () => void {
  const due = new Set<() => void>();
  let isStopped = false;
  const actSoon = (action: () => void): void => {
    // Not at once: whoever made this change is still telling of it.
    if (due.size === 0) {
      queueMicrotask(() => {
        const actions = [...due];
        due.clear();
        if (!isStopped) for (const act of actions) act();
      });
    }
    due.add(action);
  };
  const keepNamespaces = (): void => {
    endNamespaces(cluster);
    makeDefaultAccounts(cluster);
  };
  const keepRoles = (): void => aggregateRoles(cluster.objects);
  keepNamespaces();
  keepRoles();
  const unwatch = cluster.objects.watch(cluster.objects.revision, (change) => {
    const { resource, type, object } = change;
    if (resource === NAMESPACES || type === 'DELETED') actSoon(keepNamespaces);
    if (resource === CLUSTER_ROLES && concernsAggregation(cluster.objects, change)) {
      actSoon(keepRoles);
    }
    if (resource === DEFINITIONS && type === 'DELETED') {
      actSoon(() => removeDefined(cluster, object));
    }
  });
  return () => {
    isStopped = true;
    unwatch();
  };
}

function endNamespaces(cluster: Cluster): void {
  const { objects } = cluster;
  for (const namespace of [...objects.each(NAMESPACES)].filter(isTerminating)) {
    const { name } = namespace.metadata;
    for (const key of objects.resourcesIn(name)) {
      for (const object of objects.list(key, name)) endOne(cluster, key, object);
    }
    if (objects.resourcesIn(name).length > 0) continue;
    const emptied = { ...namespace, spec: {} };
    const isFree = (namespace.metadata.finalizers ?? []).length === 0;
    if (isFree) objects.remove(NAMESPACES, namespace);
    else if ('finalizers' in mapAt(namespace, 'spec')) objects.put(NAMESPACES, emptied);
  }
}

function endOne(cluster: Cluster, key: string, object: KubeObject): void {
  const resource = cluster.resources.all().find((candidate) => storageKey(candidate) === key);
  if (resource === undefined) cluster.objects.remove(key, object);
  else endObject(cluster, { resource, object });
}

function makeDefaultAccounts({ objects, draw, clock }: Cluster): void {
  for (const { metadata } of objects.each(NAMESPACES)) {
    const place = { resource: SERVICE_ACCOUNTS, namespace: metadata.name, name: 'default' };
    if (metadata.deletionTimestamp !== undefined || objects.get(place) !== undefined) continue;
    objects.put(SERVICE_ACCOUNTS, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: {
        name: 'default',
        namespace: metadata.name,
        uid: draw.uuid(),
        resourceVersion: '',
        creationTimestamp: kubeTime(clock()),
      },
    });
  }
}

function removeDefined({ objects }: Cluster, definition: KubeObject): void {
  const spec = mapAt(definition, 'spec');
  const key = `${textAt(spec, 'group')}/${textAt(mapAt(spec, 'names'), 'plural')}`;
  for (const object of objects.each(key)) objects.remove(key, object);
}
