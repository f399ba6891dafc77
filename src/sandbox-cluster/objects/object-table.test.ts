import { describe, expect, it } from 'vitest';

import type { JsonObject, KubeObject } from '../api/kube-object.ts';
import { memoryStore } from '../store/memory-store.ts';
import { type Change, ObjectTable } from './object-table.ts';

const MAPS = '/configmaps';

function openTable(store = memoryStore()): ObjectTable {
  return new ObjectTable(store.openJournal('a'), () => ({ founding: { made: 'once' } }));
}

function map(name: string, data: JsonObject = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: '',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    data,
  };
}

describe('the objects of a cluster', () => {
  it('have a number for each change, and are the same after a start', () => {
    const store = memoryStore();
    const table = openTable(store);
    expect(table.put(MAPS, map('a')).metadata.resourceVersion).toBe('1');
    expect(table.put(MAPS, map('b')).metadata.resourceVersion).toBe('2');
    expect(table.put(MAPS, map('a', { k: 'v' })).metadata.resourceVersion).toBe('3');
    table.remove(MAPS, map('b'));
    const again = openTable(store);
    expect(again.revision).toBe(4);
    expect(again.founding).toEqual({ founding: { made: 'once' } });
    expect(again.list(MAPS)).toEqual(table.list(MAPS));
    expect(again.list(MAPS).map(({ data }) => data)).toEqual([{ k: 'v' }]);
  });

  it('are listed by namespace and name, as bytes compare', () => {
    const table = openTable();
    for (const name of ['b', 'a-b', 'a', 'ab', 'a.b']) table.put(MAPS, map(name));
    expect(table.list(MAPS, 'default').map(({ metadata }) => metadata.name)).toEqual([
      'a',
      'a-b',
      'a.b',
      'ab',
      'b',
    ]);
    expect(table.list(MAPS, 'def')).toEqual([]);
  });

  it('are told to who watches, also what has been since', () => {
    const table = openTable();
    table.put(MAPS, map('a'));
    table.put(MAPS, map('b'));
    const seen: Change[] = [];
    const stop = table.watch(1, (change) => seen.push(change));
    table.put(MAPS, map('b', { k: 'v' }));
    table.remove(MAPS, map('a'));
    stop();
    table.put(MAPS, map('c'));
    expect(
      seen.map(({ type, object, revision }) => [type, object.metadata.name, revision]),
    ).toEqual([
      ['ADDED', 'b', 2],
      ['MODIFIED', 'b', 3],
      ['DELETED', 'a', 4],
    ]);
  });

  it('cannot be watched from a change that is forgotten', () => {
    const table = openTable();
    for (let count = 0; count < 2_001; count += 1) table.put(MAPS, map('a', { count }));
    expect(() => table.watch(1, () => undefined)).toThrow('too old resource version: 1 (1000)');
    expect(table.watch(1_000, () => undefined)).toBeTypeOf('function');
  });

  it('do not let their journal grow without end', () => {
    const store = memoryStore();
    const table = openTable(store);
    for (let count = 0; count < 6_000; count += 1) table.put(MAPS, map('a', { count }));
    expect(store.openJournal('a').read().length).toBeLessThan(1_100);
    const again = openTable(store);
    expect(again.list(MAPS)).toEqual(table.list(MAPS));
    expect(again.revision).toBe(6_000);
  });
});
