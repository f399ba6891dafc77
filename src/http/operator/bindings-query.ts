// The query of GET /bindings. What it does not know, or cannot be, is refused: a filter that is passed over would show
// more than was asked for.
import { BrokerError } from '../../domain/errors.ts';
import { cleaned } from '../../domain/shown-text.ts';
import type { BindingsQuestion } from '../../broker/list-bindings.ts';

/** Of docs/api.md, "Which bindings there are". */
const MAX_PAGE_SIZE = 100;

const STATES = ['live', 'stuck', 'revoking', 'issuing', 'expired'] as const;

const KNOWN: readonly string[] = ['instance_id', 'binding_id', 'state', 'cursor', 'page_size'];

type Position = NonNullable<BindingsQuestion['after']>;

export function toBindingsQuestion(query: unknown): BindingsQuestion {
  const values = query as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(values).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) {
    throw malformedQuery(`The query parameter ${cleaned(unknown)} is not known.`);
  }
  return {
    instanceId: textOf(values, 'instance_id'),
    bindingId: textOf(values, 'binding_id'),
    state: stateOf(textOf(values, 'state')),
    after: positionOf(textOf(values, 'cursor')),
    pageSize: pageSizeOf(textOf(values, 'page_size')),
  };
}

function textOf(values: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = values[name];
  if (value === undefined || (typeof value === 'string' && !value.includes('\0'))) {
    return value;
  }
  throw malformedQuery(`The query parameter ${name} must be given once, without NUL characters.`);
}

function stateOf(text: string | undefined): BindingsQuestion['state'] {
  const state = STATES.find((each) => each === text);
  if (text !== undefined && state === undefined) {
    throw malformedQuery(`state must be one of ${STATES.join(', ')}.`);
  }
  return state;
}

function pageSizeOf(text: string | undefined): number {
  if (text === undefined) {
    return MAX_PAGE_SIZE;
  }
  const size = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (size < 1 || size > MAX_PAGE_SIZE) {
    throw malformedQuery(`page_size must be a whole number from 1 to ${MAX_PAGE_SIZE}.`);
  }
  return size;
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const CURSOR_FORM = new RegExp(`^(${UUID})/(${UUID})$`);

/** Where a page ended, as one opaque text. */
export function toCursor({ instanceKey, grantId }: Position): string {
  return Buffer.from(`${instanceKey}/${grantId}`).toString('base64url');
}

function positionOf(cursor: string | undefined): Position | undefined {
  if (cursor === undefined) {
    return undefined;
  }
  const [, instanceKey, grantId] =
    CURSOR_FORM.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (instanceKey === undefined || grantId === undefined) {
    throw malformedQuery('cursor must be the nextCursor of an answer.');
  }
  return { instanceKey, grantId };
}

function malformedQuery(description: string): BrokerError {
  return new BrokerError({ code: 'malformed-request', description });
}
