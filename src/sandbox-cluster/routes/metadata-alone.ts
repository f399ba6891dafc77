// Objects without what is in them: for clients that look through many and need their names and labels only.

import type { JsonObject, KubeObject } from '../api/kube-object.ts';

/** The other form that the client would rather have than whole objects: what follows `as=` in its Accept header. */
export function formWanted(accept: string): string | undefined {
  // The first that we have is taken: clients name these forms before plain objects.
  const first = accept.split(',')[0] ?? '';
  const isKnown = /;v=v1(;|$)/.test(first) && first.includes('g=meta.k8s.io');
  return isKnown ? /;as=(\w+)/.exec(first)?.[1] : undefined;
}

export function metadataAlone({ metadata }: KubeObject): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
}

export function metadataList(items: readonly KubeObject[], metadata: JsonObject): JsonObject {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    items: items.map(metadataAlone),
  };
}
