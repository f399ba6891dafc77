// An error and what caused it, as a log line shows them: from the outside in, each once, bounded. Only known fields
// are taken: drivers and clients hang whole requests on their errors, and with them what nobody may read.
import { BrokerError, UpstreamError } from '../domain/errors.ts';

export interface RenderedError {
  readonly type: string;
  readonly message: string;
  /** Code of ours, of Node (`ECONNREFUSED`) or of PostgreSQL (SQLSTATE). */
  readonly code?: string;
  readonly reason?: string;
  readonly status?: number;
  readonly retryable?: boolean;
  readonly retryAfterSeconds?: number;
  /** Where it was thrown; not for expected errors, whose place says nothing. */
  readonly stack?: readonly string[];
  readonly cause?: RenderedError;
  /** Of an AggregateError, the first few. */
  readonly errors?: readonly RenderedError[];
}

/** Deeper chains are loops or generated. */
const MAX_DEPTH = 8;

/** Enough for the sentence; an answer of a proxy's error page is longer. */
const MAX_TEXT_CHARACTERS = 1_000;

/** From where it was thrown to the verb that was at work; what is further out is the framework's. */
const MAX_FRAMES = 8;

/** Node collects one for each address of a host that did not answer. */
const MAX_AGGREGATED = 3;

/** @param error whatever was thrown */
export function renderErrorChain(error: unknown): RenderedError {
  return render(error, []);
}

/** @param outer the errors around this one, outermost first */
function render(error: unknown, outer: readonly unknown[]): RenderedError {
  if (!(error instanceof Error)) {
    return { type: typeof error, message: shortened(describeThrown(error)) };
  }
  const around = [...outer, error];
  const inner = [error.cause].filter((cause) => cause !== undefined && !around.includes(cause));
  const crowd: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  const goesOn = around.length < MAX_DEPTH;
  const [cause] = goesOn ? inner.map((each) => render(each, around)) : [];
  const errors = goesOn ? crowd.slice(0, MAX_AGGREGATED).map((each) => render(each, around)) : [];
  return {
    type: error.name,
    message: shortened(withoutInner(error.message, inner[0])),
    ...knownFields(error),
    ...(cause === undefined ? {} : { cause }),
    ...(errors.length === 0 ? {} : { errors }),
  };
}

/** A thrown object may hold anything, so only what cannot hide something is shown. */
function describeThrown(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'object':
    case 'function':
      return 'a thrown value that is not an error';
    default:
      return String(value);
  }
}

/** Many wrappers end with the text of what they wrap; that text comes next anyway. */
function withoutInner(message: string, cause: unknown): string {
  const inner = cause instanceof Error ? cause.message : '';
  if (inner === '' || !message.includes(inner)) {
    return message;
  }
  return message.replace(inner, '').replace(/[\s:,;(]+\)?\.?$/, '') || 'see cause';
}

function shortened(text: string): string {
  return text.length <= MAX_TEXT_CHARACTERS ? text : `${text.slice(0, MAX_TEXT_CHARACTERS)}…`;
}

function knownFields(error: Error): Partial<RenderedError> {
  if (error instanceof BrokerError) {
    return { code: error.code, ...retryAfter(error) };
  }
  if (error instanceof UpstreamError) {
    return {
      reason: error.reason,
      ...(error.status === undefined ? {} : { status: error.status }),
      retryable: error.retryable,
      ...retryAfter(error),
    };
  }
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { ...code, stack: frames(error) };
}

function retryAfter({ retryAfterSeconds }: BrokerError | UpstreamError) {
  return retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
}

/** The stack without its first line, which repeats name and message. */
function frames(error: Error): readonly string[] {
  return (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, MAX_FRAMES)
    .map((line) => line.trim());
}
