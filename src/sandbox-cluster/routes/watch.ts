// Watches: every change of what is selected, as a line each, from a resourceVersion on.

import type { JsonObject, KubeObject } from '../api/kube-object.ts';
import { apiVersionOf, type Resource, storageKey } from '../api/resource.ts';
import { StatusError } from '../api/status.ts';
import { readCount } from '../objects/list-objects.ts';
import type { Change } from '../objects/object-table.ts';
import { readSelection, type Selection } from '../objects/selectors.ts';
import type { ApiCall, StreamedAnswer } from './answer.ts';
import { formWanted, metadataAlone } from './metadata-alone.ts';
import { shown } from './shown.ts';
import { tableOf } from './table.ts';

/** As long as kube-apiserver lets one live at most, where the client does not say. */
const DEFAULT_TIMEOUT_SECONDS = 3_600;

/** Throws a 400 where the query cannot be read; what is too old is told in the stream, by an ERROR. */
export function watchObjects(
  call: ApiCall,
  place: {
    readonly resource: Resource;
    readonly namespace: string | undefined;
    readonly name: string | undefined;
  },
): StreamedAnswer {
  const { query, cluster } = call;
  const selection = readSelection(place.resource, query);
  const timeoutSeconds = readCount(query, 'timeoutSeconds') || DEFAULT_TIMEOUT_SECONDS;
  const from = readCount(query, 'resourceVersion');
  const key = storageKey(place.resource);
  const isInside = ({ metadata }: KubeObject): boolean =>
    (place.namespace === undefined ||
      metadata.namespace === place.namespace ||
      !place.resource.isNamespaced) &&
    (place.name === undefined || metadata.name === place.name);
  return {
    kind: 'streamed',
    start(send, end) {
      const event = eventWriter(call, place.resource);
      const tell = (change: Change): void => {
        if (change.resource !== key || !isInside(change.object)) return;
        const type = typeFor(change, selection);
        if (type !== undefined) send(event(type, change.object));
      };
      const timer = setTimeout(end, timeoutSeconds * 1_000);
      let unwatch = (): void => undefined;
      try {
        // Without a version, what is there comes first.
        const revision = from === 0 ? cluster.objects.revision : from;
        if (from === 0) {
          const found = cluster.objects.list(key).filter(isInside).filter(selection.matches);
          for (const object of found) send(event('ADDED', object));
        }
        unwatch = cluster.objects.watch(revision, tell);
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        send({ type: 'ERROR', object: error.status });
        end();
      }
      return () => {
        clearTimeout(timer);
        unwatch();
      };
    },
  };
}

/** What a change is for a watcher who sees only what is selected. */
function typeFor(
  { type, object, previous }: Change,
  selection: Selection,
): Change['type'] | undefined {
  const was = previous !== undefined && selection.matches(previous);
  const is = type !== 'DELETED' && selection.matches(object);
  if (is) return was ? 'MODIFIED' : 'ADDED';
  return was ? 'DELETED' : undefined;
}

function eventWriter(
  call: ApiCall,
  resource: Resource,
): (type: string, object: KubeObject) => JsonObject {
  const form = formWanted(call.accept);
  if (form === 'PartialObjectMetadata') {
    return (type, object) => ({ type, object: metadataAlone(object) });
  }
  if (form !== 'Table') {
    return (type, object) => ({ type, object: shown(object, apiVersionOf(resource)) });
  }
  let isFirst = true;
  return (type, object) => {
    const { resourceVersion } = object.metadata;
    const table = tableOf({
      resource,
      objects: [object],
      metadata: { resourceVersion },
      now: call.cluster.clock(),
      include: call.query.get('includeObject') === 'Object' ? 'Object' : 'Metadata',
    });
    const event = { type, object: isFirst ? table : { ...table, columnDefinitions: [] } };
    isFirst = false;
    return event;
  };
}
