// The objects of one cluster, each change numbered, kept and told to those who watch. What may be written, and by
// whom, is left to the writers beside it.

import type { JsonObject, KubeObject } from '../api/kube-object.ts';
import { expired } from '../api/status.ts';
import type { Journal } from '../store/sandbox-store.ts';

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** storageKey of the resource. */
  readonly resource: string;
  readonly revision: number;
  /** As it is afterwards; of a deletion, as it was last, with the deletion's revision. */
  readonly object: KubeObject;
  readonly previous?: KubeObject;
}

export type Listener = (change: Change) => void;

export interface Place {
  /** storageKey of the resource. */
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Watches that fall further behind start over, as they do after five minutes on a real API server. */
const HISTORY_LENGTH = 2_000;

/** With fewer, rewriting the journal costs more than reading it at the next start. */
const JOURNAL_SLACK = 5_000;

export class ObjectTable {
  readonly #journal: Journal;
  /** Kept in the journal's first line. */
  readonly #founding: JsonObject;
  readonly #tables = new Map<string, Map<string, KubeObject>>();
  readonly #listeners = new Set<Listener>();
  readonly #history: Change[] = [];
  #revision = 0;
  #journalLength = 0;
  /** Watches go on from here or later. */
  #oldestWatchable = 0;

  /** `founding` counts for a journal that is empty; else what it was then is given back. */
  constructor(journal: Journal, found: () => JsonObject) {
    this.#journal = journal;
    const [first, ...changes] = journal.read();
    this.#founding = first ?? found();
    if (first === undefined) journal.append(this.#founding);
    for (const change of changes) this.#replay(change);
    this.#journalLength = changes.length;
    this.#oldestWatchable = this.#revision;
  }

  get founding(): JsonObject {
    return this.#founding;
  }

  /** The number of the latest change. */
  get revision(): number {
    return this.#revision;
  }

  get({ resource, namespace, name }: Place): KubeObject | undefined {
    return this.#tables.get(resource)?.get(keyOf(namespace, name));
  }

  /** In the order of lists: by namespace, then by name. */
  list(resource: string, namespace?: string): readonly KubeObject[] {
    const table = this.#tables.get(resource);
    if (table === undefined) return [];
    const within = namespace === undefined ? '' : `${namespace}/`;
    return [...table]
      .filter(([key]) => key.startsWith(within))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => object);
  }

  /** In no order. */
  each(resource: string): Iterable<KubeObject> {
    return this.#tables.get(resource)?.values() ?? [];
  }

  /** Whether anything lies in that namespace; the resources that have something there. */
  resourcesIn(namespace: string): readonly string[] {
    return [...this.#tables.keys()].filter((key) => this.list(key, namespace).length > 0);
  }

  /** @returns the object with its new resourceVersion */
  put(resource: string, object: KubeObject): KubeObject {
    this.#revision += 1;
    const kept = numbered(object, this.#revision);
    const { namespace, name } = kept.metadata;
    const previous = this.get({ resource, namespace, name });
    this.#keep({ put: kept, resource });
    this.#tableOf(resource).set(keyOf(namespace, name), kept);
    this.#tell({
      type: previous === undefined ? 'ADDED' : 'MODIFIED',
      resource,
      revision: this.#revision,
      object: kept,
      ...(previous === undefined ? {} : { previous }),
    });
    return kept;
  }

  remove(resource: string, object: KubeObject): void {
    this.#revision += 1;
    const { namespace, name } = object.metadata;
    const key = keyOf(namespace, name);
    this.#keep({ remove: key, resource, revision: this.#revision });
    this.#tableOf(resource).delete(key);
    this.#tell({
      type: 'DELETED',
      resource,
      revision: this.#revision,
      object: numbered(object, this.#revision),
      previous: object,
    });
  }

  /**
   * Tells of every change after `revision`, at once of those that have been. Throws a 410 where they are not known any
   * more. @returns what ends it
   */
  watch(revision: number, listener: Listener): () => void {
    if (revision < this.#oldestWatchable) {
      throw expired(`too old resource version: ${revision} (${this.#oldestWatchable})`);
    }
    for (const change of this.#history) if (change.revision > revision) listener(change);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    this.#listeners.clear();
    this.#journal.close();
  }

  #tell(change: Change): void {
    this.#history.push(change);
    if (this.#history.length > HISTORY_LENGTH) {
      const forgotten = this.#history.splice(0, this.#history.length / 2).at(-1);
      this.#oldestWatchable = forgotten?.revision ?? this.#oldestWatchable;
    }
    for (const listener of this.#listeners) listener(change);
  }

  #keep(change: JsonObject): void {
    this.#journal.append(change);
    this.#journalLength += 1;
    const size = [...this.#tables.values()].reduce((sum, table) => sum + table.size, 0);
    if (this.#journalLength > 2 * size + JOURNAL_SLACK) this.#compact(change);
  }

  /** The last change is not in the tables yet. */
  #compact(last: JsonObject): void {
    const puts = [...this.#tables].flatMap(([resource, table]) =>
      [...table.values()].map((object): JsonObject => ({ put: object, resource })),
    );
    this.#journal.replace([this.#founding, ...puts, last]);
    this.#journalLength = puts.length + 1;
  }

  #replay(change: JsonObject): void {
    const { resource, put, remove, revision } = change;
    if (typeof resource !== 'string') throw new Error('a change of a cluster names no resource');
    const table = this.#tableOf(resource);
    if (typeof remove === 'string') {
      this.#revision = Math.max(this.#revision, Number(revision));
      table.delete(remove);
    } else {
      const object = put as KubeObject;
      const { namespace, name, resourceVersion } = object.metadata;
      this.#revision = Math.max(this.#revision, Number(resourceVersion));
      table.set(keyOf(namespace, name), object);
    }
  }

  #tableOf(resource: string): Map<string, KubeObject> {
    const table = this.#tables.get(resource) ?? new Map<string, KubeObject>();
    this.#tables.set(resource, table);
    return table;
  }
}

/** As etcd sorts its keys; no name has a slash. */
function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function numbered(object: KubeObject, revision: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
