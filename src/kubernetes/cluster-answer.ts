// Reads what a cluster answers: status and content type first, then JSON, then the kind. What is none of these
// becomes an UpstreamError.

import type { Dispatcher } from 'undici';

import { failureOfAnswer, malformedAnswer } from './failures.ts';

/** What every answer of an API server has; `T` of request() is checked for no more than that. */
export interface KubernetesObject {
  readonly kind?: string;
}

interface ExpectingCall {
  readonly action: string;
  readonly expect: readonly string[];
}

/** `expect`: the kinds that the object may be of. A body that is not JSON is thrown away unread. */
export async function readAnswer<T extends KubernetesObject>(
  call: ExpectingCall,
  answer: Dispatcher.ResponseData,
): Promise<T> {
  const { statusCode: status, headers, body } = answer;
  const contentType = first(headers['content-type']) ?? '';
  const isJson = /^application\/json\s*(;|$)/i.test(contentType);
  const text = isJson ? await body.text() : await body.dump();
  if (status < 200 || status > 299) {
    throw failureOfAnswer(call.action, {
      status,
      contentType,
      retryAfter: first(headers['retry-after']),
      date: first(headers['date']),
      text: text ?? undefined,
    });
  }
  if (typeof text !== 'string') {
    throw malformedAnswer(call.action, `${status} with content type "${contentType}"`);
  }
  return parseObject(call, text) as T;
}

function parseObject(call: ExpectingCall, text: string): KubernetesObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformedAnswer(call.action, 'the answer is not JSON');
  }
  const kind =
    typeof value === 'object' && value !== null && 'kind' in value ? String(value.kind) : 'none';
  if (!call.expect.includes(kind)) {
    throw malformedAnswer(
      call.action,
      `the answer is of kind ${kind}, not ${call.expect.join(' or ')}`,
    );
  }
  return value as KubernetesObject;
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
