// What every answer of a broker must be, whatever was asked: asked of each one that the suite sees, so that no case can
// forget it. What an answer says beyond that is the cases' business.

import type { RawAnswer } from './exchange.ts';

export interface AskedFor {
  readonly method: string;
  readonly target: string;
  /** Undefined where the request had none. */
  readonly requestIdentity: string | undefined;
  /** What no failure may repeat: the credentials of the request. */
  readonly secrets: readonly string[];
}

type Rule = (answer: RawAnswer, asked: AskedFor) => string | undefined;

/** OSB 2.17 knows no other success, and 304 pairs with an ETag. */
const GOOD_STATUSES = [200, 201, 202, 304];

const RULES: readonly Rule[] = [
  ({ status }) =>
    status >= 400 || GOOD_STATUSES.includes(status) ? undefined : `OSB knows no ${status}`,
  (answer, asked) =>
    hasNoBody(answer, asked) || isObject(parsed(answer.text))
      ? undefined
      : 'the body is not a JSON object',
  (answer, asked) =>
    hasNoBody(answer, asked) || /^application\/json\b/.test(answer.headers['content-type'] ?? '')
      ? undefined
      : 'the body is not said to be JSON',
  ({ text }) =>
    /[:[,]null\b/.test(text) ? 'null is sent instead of leaving a field out' : undefined,
  ({ headers }, { requestIdentity }) =>
    headers['x-broker-api-request-identity'] === requestIdentity
      ? undefined
      : 'the request identity is not echoed',
  ({ status, headers }) =>
    status !== 401 || /^basic\b/i.test(String(headers['www-authenticate']))
      ? undefined
      : '401 does not say how to authenticate',
  ({ status, headers }) =>
    status !== 405 || (headers.allow ?? '') !== '' ? undefined : '405 does not say what is allowed',
  ({ status, headers }) =>
    ![429, 503].includes(status) || /^\d+$/.test(headers['retry-after'] ?? '')
      ? undefined
      : `${status} does not say when to come back, in seconds`,
];

/** OSB 2.17, Service Broker Errors. */
const FAILURE_RULES: readonly Rule[] = [
  ({ text, status }) =>
    status === 410 && text !== '{}' ? 'OSB expects the body of 410 to be {}' : undefined,
  ({ text }) => {
    const { error } = fieldsOf(text);
    return error === undefined || (typeof error === 'string' && /^[A-Z][A-Za-z]+$/.test(error))
      ? undefined
      : 'error is not one word in camel case';
  },
  ({ text, status }) =>
    status === 422 && fieldsOf(text)['error'] === undefined
      ? 'a 422 without a word makes platforms clean up what they should not'
      : undefined,
  ({ text, status }, asked) => {
    const { description } = fieldsOf(text);
    return status === 410 || asked.method === 'HEAD' || isSentence(description)
      ? undefined
      : 'description is not a sentence';
  },
  ({ text }, asked) => {
    const allowed = fieldsOfFailure(asked);
    const others = Object.keys(fieldsOf(text)).filter((field) => !allowed.includes(field));
    return others.length === 0 ? undefined : `a failure has no field ${others.join(', ')}`;
  },
  ({ text }, { secrets }) =>
    secrets.some((secret) => text.includes(secret)) ? 'it repeats a credential' : undefined,
  ({ text }) => {
    const found = Object.entries(INTERNALS).filter(([, form]) => form.test(text));
    return found.length === 0 ? undefined : `it tells of ${found.map(([what]) => what).join(', ')}`;
  },
];

/** What users have no business with. */
const INTERNALS: Readonly<Record<string, RegExp>> = {
  'a stack': /\bat \S+:\d+:\d+|\.[jt]s:\d+|node_modules/,
  SQL: /\b(select .+ from|insert into|violates|relation \\"|duplicate key|syntax error at)\b/i,
  'an address': /\b\d{1,3}(\.\d{1,3}){3}\b|localhost|ECONNREFUSED|ENOTFOUND/,
  'a token': /eyJ[\w-]{10}/,
  'a certificate or key': /-----BEGIN|LS0tLS1/,
  'a kubeconfig': /current-context:|apiVersion:/,
};

/** @returns sentences, none for an answer as it should be */
export function faultsOf(answer: RawAnswer, asked: AskedFor): readonly string[] {
  const rules = answer.status >= 400 ? [...RULES, ...FAILURE_RULES] : RULES;
  return rules.map((rule) => rule(answer, asked)).filter((fault) => fault !== undefined);
}

function hasNoBody({ status }: RawAnswer, { method }: AskedFor): boolean {
  return method === 'HEAD' || status === 304;
}

/** `instance_usable` belongs to failures of updating and deleting, `update_repeatable` to updating (OSB 2.17, Errors). */
function fieldsOfFailure({ method, target }: AskedFor): readonly string[] {
  const isOfInstance = /\/service_instances\/[^/?]*(\?|$)/.test(target);
  const always = ['error', 'description'];
  if (isOfInstance && method === 'PATCH') {
    return [...always, 'instance_usable', 'update_repeatable'];
  }
  return isOfInstance && method === 'DELETE' ? [...always, 'instance_usable'] : always;
}

function isSentence(text: unknown): boolean {
  return typeof text === 'string' && /^\S+( \S+)+$/.test(text);
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  const value = parsed(text);
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
