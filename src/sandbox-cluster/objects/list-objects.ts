// Lists of objects, whole or in pages.

import type { JsonObject, KubeObject } from '../api/kube-object.ts';
import { storageKey, type Resource } from '../api/resource.ts';
import { badRequest, expired } from '../api/status.ts';
import type { ObjectTable } from './object-table.ts';
import { readSelection } from './selectors.ts';

export interface ListPage {
  readonly items: readonly KubeObject[];
  /** `metadata` of the list. */
  readonly metadata: JsonObject;
}

/** `resourceVersion` of the query is not looked at: every list is of now. Throws a 400 or 410. */
export function listObjects(
  objects: ObjectTable,
  place: { readonly resource: Resource; readonly namespace?: string | undefined },
  query: URLSearchParams,
): ListPage {
  const selection = readSelection(place.resource, query);
  const limit = readCount(query, 'limit');
  const from = readContinue(query.get('continue') ?? '', objects.revision);
  const all = objects
    .list(storageKey(place.resource), place.namespace)
    .filter(selection.matches)
    .filter((object) => from === undefined || positionOf(object) > from.after);
  const items = limit === 0 ? all : all.slice(0, limit);
  const revision = from?.revision ?? objects.revision;
  const last = items.at(-1);
  const left = all.length - items.length;
  const metadata: JsonObject = {
    resourceVersion: String(revision),
    ...(left === 0 || last === undefined
      ? {}
      : {
          continue: continueAfter(positionOf(last), revision),
          ...(selection.isEverything ? { remainingItemCount: left } : {}),
        }),
  };
  return { items, metadata };
}

/** Zero where it is absent. */
export function readCount(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '0';
  if (!/^\d{1,15}$/.test(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return Number(text);
}

interface Continuation {
  readonly after: string;
  readonly revision: number;
}

/** Later pages show what is there then; a real API server shows what was there at the first. */
function continueAfter(after: string, revision: number): string {
  return Buffer.from(JSON.stringify({ after, revision })).toString('base64url');
}

function readContinue(text: string, newest: number): Continuation | undefined {
  if (text === '') return undefined;
  let token: Partial<Continuation> | null;
  try {
    token = JSON.parse(
      Buffer.from(text, 'base64url').toString('utf8'),
    ) as Partial<Continuation> | null;
  } catch {
    throw badRequest('invalid continue token: continue key is not valid');
  }
  if (typeof token?.after !== 'string' || typeof token.revision !== 'number') {
    throw badRequest('invalid continue token: continue key is not valid');
  }
  if (token.revision > newest) throw expired('The provided continue parameter is too old');
  return { after: token.after, revision: token.revision };
}

function positionOf({ metadata }: KubeObject): string {
  return metadata.namespace === undefined
    ? metadata.name
    : `${metadata.namespace}/${metadata.name}`;
}
