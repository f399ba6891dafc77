import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { JsonObject } from '../api/kube-object.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

describe('a merge patch', () => {
  // The examples of RFC 7396, appendix A, that are between objects.
  it.each<[JsonObject, JsonObject, JsonObject]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('of %j by %j gives %j', (target, patch, result) => {
    expect(applyMergePatch(target, patch)).toEqual(result);
  });

  it('never changes what it is applied to', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (target, patch) => {
          const before = JSON.stringify(target);
          applyMergePatch(target, patch);
          expect(JSON.stringify(target)).toBe(before);
        },
      ),
    );
  });

  it('makes no prototype of a field that is called so', () => {
    const patch = JSON.parse('{"__proto__": {"polluted": true}}') as JsonObject;
    const result = applyMergePatch({}, patch);
    expect(Object.keys(result)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  });
});

describe('a JSON patch', () => {
  it.each<[string, JsonObject, readonly JsonObject[], JsonObject]>([
    ['adds a member', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
    ['adds into a list', { a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2, 3] }],
    ['adds to a list', { a: [1] }, [{ op: 'add', path: '/a/-', value: 2 }], { a: [1, 2] }],
    [
      'removes',
      { a: { b: 1, c: [1, 2] } },
      [{ op: 'remove', path: '/a/c/0' }],
      { a: { b: 1, c: [2] } },
    ],
    [
      'replaces',
      { a: { b: 1 } },
      [{ op: 'replace', path: '/a/b', value: null }],
      { a: { b: null } },
    ],
    ['moves', { a: 1 }, [{ op: 'move', from: '/a', path: '/b' }], { b: 1 }],
    ['copies', { a: [1] }, [{ op: 'copy', from: '/a/0', path: '/b' }], { a: [1], b: 1 }],
    [
      'tests',
      { a: { b: [1] } },
      [{ op: 'test', path: '/a', value: { b: [1] } }],
      { a: { b: [1] } },
    ],
    [
      'reads escaped names',
      { 'a/b': { '~': 1 } },
      [{ op: 'remove', path: '/a~1b/~0' }],
      { 'a/b': {} },
    ],
    ['replaces the whole', { a: 1 }, [{ op: 'replace', path: '', value: { b: 1 } }], { b: 1 }],
  ])('%s', (_, target, patch, result) => {
    expect(applyJsonPatch(target, patch)).toEqual(result);
  });

  it.each<[string, JsonObject]>([
    ['removes what is not there', { op: 'remove', path: '/b' }],
    ['replaces what is not there', { op: 'replace', path: '/b', value: 1 }],
    ['goes through what is not there', { op: 'add', path: '/b/c', value: 1 }],
    ['adds beyond the end', { op: 'add', path: '/a/2', value: 1 }],
    ['finds another value', { op: 'test', path: '/a/0', value: 2 }],
    ['removes the whole', { op: 'remove', path: '' }],
  ])('that %s does not apply', (_, operation) => {
    expect(() => applyJsonPatch({ a: [1] }, [operation])).toThrow('rejected our request');
  });

  it.each([
    {},
    'x',
    [1],
    [{ op: 'nope', path: '/a' }],
    [{ op: 'add', path: '/a' }],
    [{ op: 'add', path: 'a', value: 1 }],
  ])('is not %j', (patch) => {
    expect(() => applyJsonPatch({ a: 1 }, patch)).toThrow('a JSON patch');
  });
});

describe('a strategic merge patch', () => {
  const pod = {
    finalizers: ['a'],
    containers: [
      { name: 'one', image: 'x', env: [{ name: 'A', value: '1' }] },
      { name: 'two', image: 'y' },
    ],
    args: ['a', 'b'],
  };

  it.each<[string, JsonObject, JsonObject]>([
    [
      'merges a list by its key',
      { containers: [{ name: 'two', image: 'z' }] },
      { ...pod, containers: [pod.containers[0] ?? {}, { name: 'two', image: 'z' }] },
    ],
    [
      'adds to such a list',
      { containers: [{ name: 'three' }] },
      { ...pod, containers: [...pod.containers, { name: 'three' }] },
    ],
    [
      'deletes from such a list',
      { containers: [{ name: 'one', $patch: 'delete' }] },
      { ...pod, containers: [pod.containers[1] ?? {}] },
    ],
    [
      'replaces such a list',
      { containers: [{ name: 'four' }, { $patch: 'replace' }] },
      { ...pod, containers: [{ name: 'four' }] },
    ],
    ['replaces other lists', { args: ['c'] }, { ...pod, args: ['c'] }],
    ['joins finalizers', { finalizers: ['a', 'b'] }, { ...pod, finalizers: ['a', 'b'] }],
    ['removes texts', { '$deleteFromPrimitiveList/finalizers': ['a'] }, { ...pod, finalizers: [] }],
    ['removes a field', { args: null }, { finalizers: pod.finalizers, containers: pod.containers }],
    ['keeps only named fields', { $retainKeys: ['args'], args: ['c'] }, { args: ['c'] }],
    ['leaves orders aside', { '$setElementOrder/containers': [{ name: 'two' }] }, pod],
  ])('%s', (_, patch, result) => {
    expect(applyStrategicMergePatch(pod, patch)).toEqual(result);
  });

  it('has directives that are known', () => {
    expect(() => applyStrategicMergePatch(pod, { $patch: 'nope' })).toThrow(
      'unknown patch directive',
    );
  });
});
