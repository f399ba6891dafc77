// JSON patch (RFC 6902).

import { isDeepStrictEqual } from 'node:util';

import { isJsonObject, type JsonObject, type JsonValue, textAt } from '../api/kube-object.ts';
import { badRequest, patchDoesNotApply } from '../api/status.ts';

/** As on a real API server, which bears no more in one patch. */
const MAX_OPERATIONS = 10_000;

/** Throws a 400 where it is no patch, a 422 where it does not fit. */
export function applyJsonPatch(target: JsonObject, patch: unknown): JsonObject {
  if (!Array.isArray(patch) || !patch.every(isJsonObject) || patch.length > MAX_OPERATIONS) {
    throw badRequest('a JSON patch is a list of operations');
  }
  let document: JsonValue = target;
  for (const operation of patch) document = apply(document, operation);
  if (!isJsonObject(document)) throw patchDoesNotApply();
  return document;
}

function apply(document: JsonValue, operation: JsonObject): JsonValue {
  const path = pointerAt(operation, 'path');
  switch (textAt(operation, 'op')) {
    case 'test':
      if (!isDeepStrictEqual(read(document, path), valueOf(operation))) throw patchDoesNotApply();
      return document;
    case 'add':
      return edit(document, path, { kind: 'add', value: valueOf(operation) });
    case 'replace':
      return edit(document, path, { kind: 'replace', value: valueOf(operation) });
    case 'remove':
      return edit(document, path, { kind: 'remove' });
    case 'copy':
      return edit(document, path, {
        kind: 'add',
        value: read(document, pointerAt(operation, 'from')),
      });
    case 'move': {
      const from = pointerAt(operation, 'from');
      const value = read(document, from);
      return edit(edit(document, from, { kind: 'remove' }), path, { kind: 'add', value });
    }
    case undefined:
    default:
      throw badRequest('a JSON patch has an operation that is not known');
  }
}

type Edit =
  | { readonly kind: 'add' | 'replace'; readonly value: JsonValue }
  | { readonly kind: 'remove' };

function edit(document: JsonValue, path: readonly string[], change: Edit): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined) {
    if (change.kind === 'remove') throw patchDoesNotApply();
    return change.value;
  }
  if (rest.length > 0) {
    const inner = edit(read(document, [step]), rest, change);
    return setAt(document, step, { kind: 'replace', value: inner });
  }
  return setAt(document, step, change);
}

function setAt(container: JsonValue, step: string, change: Edit): JsonValue {
  if (Array.isArray(container)) {
    return setInList(container as readonly JsonValue[], step, change);
  }
  if (!isJsonObject(container)) throw patchDoesNotApply();
  if (change.kind !== 'add' && container[step] === undefined) throw patchDoesNotApply();
  const entries = Object.entries(container).filter(([field]) => field !== step);
  const kept: JsonObject = Object.fromEntries(entries);
  return change.kind === 'remove' ? kept : { ...kept, [step]: change.value };
}

function setInList(list: readonly JsonValue[], step: string, change: Edit): JsonValue {
  const index = step === '-' ? list.length : Number(step);
  const last = change.kind === 'add' ? list.length : list.length - 1;
  if (!Number.isInteger(index) || index < 0 || index > last) throw patchDoesNotApply();
  switch (change.kind) {
    case 'add':
      return list.toSpliced(index, 0, change.value);
    case 'replace':
      return list.with(index, change.value);
    case 'remove':
      return list.toSpliced(index, 1);
  }
}

function read(document: JsonValue, path: readonly string[]): JsonValue {
  let value: JsonValue | undefined = document;
  for (const step of path) {
    if (Array.isArray(value)) value = (value as readonly JsonValue[])[Number(step)];
    else value = isJsonObject(value) ? value[step] : undefined;
  }
  if (value === undefined) throw patchDoesNotApply();
  return value;
}

function valueOf(operation: JsonObject): JsonValue {
  const value = operation['value'];
  if (value === undefined) throw badRequest('a JSON patch has an operation without its value');
  return value;
}

function pointerAt(operation: JsonObject, field: 'path' | 'from'): readonly string[] {
  const pointer = textAt(operation, field);
  if (pointer === undefined || !/^(\/|$)/.test(pointer)) {
    throw badRequest(`a JSON patch has an operation without its ${field}`);
  }
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
